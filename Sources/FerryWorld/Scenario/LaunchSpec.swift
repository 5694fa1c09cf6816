import FerryPlan

/// One launch of a random world, and the events in it.
package struct LaunchSpec: Hashable, Sendable {
  /// An external event that occurs a given number of milliseconds after the launch starts.
  package struct Happening: Hashable, Sendable {
    package enum What: Hashable, Sendable {
      case stop(StopCause)
      case hangUp
      case conditions(DeviceConditions)
      case othersMove(DeviceConditions.Network, Int64)
      /// Cancels the session `up`.
      case cancel(finishing: Bool)
      case submit(upload: Int, sizes: [Int64])
    }

    package var afterMilliseconds: Int
    package var what: What
  }

  package var kind = LaunchKind.background
  /// The time by which the clock advances before the launch; negative if it is set back.
  package var pauseSeconds = 60
  package var conditions = DeviceConditions()
  package var limit: Int?
  package var maxDurationMilliseconds: Int?
  package var graceMilliseconds = 5_000
  package var patienceSeconds = 0
  package var actionsToLive: Int?
  package var losesPower = false
  /// The sizes of new files of the first upload.
  package var newSizes: [Int64] = []
  /// The number of changes to files of the first upload before the launch.
  package var changed = 0
  package var happenings: [Happening] = []

  static func random(_ random: inout RandomSource, uploads: Int) -> LaunchSpec {
    var spec = LaunchSpec()
    spec.kind = random.one(of: [.background, .background, .foreground, .fetch, .event, .continuous])
    spec.pauseSeconds = random.one(of: [0, 1, 60, 600, 3_600, 86_400, 90_000, -600, -5_000])
    spec.conditions = conditions(&random)
    if random.once(in: 6) { spec.limit = random.roll(0...4) }
    if random.once(in: 4) { spec.maxDurationMilliseconds = random.roll(0...9_000) }
    spec.graceMilliseconds = random.roll(0...2_000)
    if random.once(in: 3) { spec.patienceSeconds = random.one(of: [1, 100, 4_000, 100_000]) }
    if random.once(in: 3) {
      spec.actionsToLive = random.once(in: 2) ? random.roll(1...20) : random.roll(1...200)
      spec.losesPower = random.once(in: 4)
    }
    if random.once(in: 5) { spec.newSizes = (0...random.roll(3)).map { _ in UploadSpec.size(&random) } }
    if random.once(in: 6) { spec.changed = random.roll(1...2) }
    for _ in 0..<random.one(of: [0, 0, 1, 1, 2, 4]) {
      let after = random.once(in: 3) ? random.roll(0...100_000) : random.roll(0...6_000)
      spec.happenings.append(Happening(afterMilliseconds: after, what: what(&random, uploads: uploads)))
    }
    return spec
  }

  private static func what(_ random: inout RandomSource, uploads: Int) -> Happening.What {
    switch random.roll(16) {
    case 0: .stop(.interrupt)
    case 1: .stop(.terminate)
    case 2: .stop(.now)
    case 3: .hangUp
    case 4, 5: .othersMove(random.one(of: [.wifi, .wired, .cellular]), Int64(random.roll(1...5_000_000)))
    case 6: .cancel(finishing: random.once(in: 2))
    case 7, 8:
      .submit(upload: random.roll(uploads), sizes: (0...random.roll(2)).map { _ in UploadSpec.size(&random) })
    default: .conditions(conditions(&random))
    }
  }

  private static func conditions(_ random: inout RandomSource) -> DeviceConditions {
    DeviceConditions(
      network: random.one(of: [.wired, .wired, .wifi, .wifi, .cellular, .none]),
      isExpensive: random.once(in: 6),
      power: random.once(in: 4) ? .battery : .external)
  }
}
