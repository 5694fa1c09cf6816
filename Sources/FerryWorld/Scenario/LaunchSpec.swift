import FerryPlan

/// One launch of a random world, and what happens in it.
package struct LaunchSpec: Hashable, Sendable {
  /// Something from outside, so many milliseconds after the launch's begin.
  package struct Happening: Hashable, Sendable {
    package enum What: Hashable, Sendable {
      case stop(StopCause)
      case hangUp
      case conditions(DeviceConditions)
      case othersMove(DeviceConditions.Network, Int64)
      /// Of the session `up`.
      case cancel(finishing: Bool)
      case submit(upload: Int, sizes: [Int64])
    }

    package var afterMilliseconds: Int
    package var what: What
  }

  package var kind = LaunchKind.background
  /// How far the clock goes on before it; negative where it is set back.
  package var pauseSeconds = 60
  package var conditions = DeviceConditions()
  package var limit: Int?
  package var maxDurationMilliseconds: Int?
  package var graceMilliseconds = 5_000
  package var patienceSeconds = 0
  package var actionsToLive: Int?
  package var losesPower = false
  /// Files that are new, of the first upload.
  package var newSizes: [Int64] = []
  /// So many files of the first upload are others than before.
  package var changed = 0
  package var happenings: [Happening] = []

  static func random(_ dice: inout Dice, uploads: Int) -> LaunchSpec {
    var spec = LaunchSpec()
    spec.kind = dice.one(of: [.background, .background, .foreground, .fetch, .event, .continuous])
    spec.pauseSeconds = dice.one(of: [0, 1, 60, 600, 3_600, 86_400, 90_000, -600, -5_000])
    spec.conditions = conditions(&dice)
    if dice.once(in: 6) { spec.limit = dice.roll(0...4) }
    if dice.once(in: 4) { spec.maxDurationMilliseconds = dice.roll(0...9_000) }
    spec.graceMilliseconds = dice.roll(0...2_000)
    if dice.once(in: 3) { spec.patienceSeconds = dice.one(of: [1, 100, 4_000, 100_000]) }
    if dice.once(in: 3) {
      spec.actionsToLive = dice.once(in: 2) ? dice.roll(1...20) : dice.roll(1...200)
      spec.losesPower = dice.once(in: 4)
    }
    if dice.once(in: 5) { spec.newSizes = (0...dice.roll(3)).map { _ in UploadSpec.size(&dice) } }
    if dice.once(in: 6) { spec.changed = dice.roll(1...2) }
    for _ in 0..<dice.one(of: [0, 0, 1, 1, 2, 4]) {
      let after = dice.once(in: 3) ? dice.roll(0...100_000) : dice.roll(0...6_000)
      spec.happenings.append(Happening(afterMilliseconds: after, what: what(&dice, uploads: uploads)))
    }
    return spec
  }

  private static func what(_ dice: inout Dice, uploads: Int) -> Happening.What {
    switch dice.roll(16) {
    case 0: .stop(.interrupt)
    case 1: .stop(.terminate)
    case 2: .stop(.now)
    case 3: .hangUp
    case 4, 5: .othersMove(dice.one(of: [.wifi, .wired, .cellular]), Int64(dice.roll(1...5_000_000)))
    case 6: .cancel(finishing: dice.once(in: 2))
    case 7, 8:
      .submit(upload: dice.roll(uploads), sizes: (0...dice.roll(2)).map { _ in UploadSpec.size(&dice) })
    default: .conditions(conditions(&dice))
    }
  }

  private static func conditions(_ dice: inout Dice) -> DeviceConditions {
    DeviceConditions(
      network: dice.one(of: [.wired, .wired, .wifi, .wifi, .cellular, .none]), isExpensive: dice.once(in: 6),
      power: dice.once(in: 4) ? .battery : .external)
  }
}
