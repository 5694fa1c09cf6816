import FerryManifest
import FerryPlan

/// Ways to reduce a scenario.
enum Simplification {
  typealias Change = @Sendable (Scenario) -> Scenario?

  /// All changes, largest reductions first.
  static func all(of scenario: Scenario) -> [Change] {
    launches(scenario) + fates(scenario) + uploads(scenario) + tokens(scenario) + keys + details(scenario)
      + bisections(scenario)
  }

  private static func change(_ body: @escaping @Sendable (inout Scenario) -> Void) -> Change {
    { scenario in
      var next = scenario
      body(&next)
      return next
    }
  }

  private static func launches(_ scenario: Scenario) -> [Change] {
    scenario.launches.indices.reversed().flatMap { index -> [Change] in
      let shorter = change { if $0.launches.indices.contains(index) { $0.launches.remove(at: index) } }
      guard 1..<12 ~= scenario.fates.count else { return [shorter] }
      // A launch that sent a single request is removed together with the fault of that request, and later
      // faults move one request earlier.
      return [shorter]
        + scenario.fates.keys.sorted().map { request in
          change {
            guard $0.launches.indices.contains(index) else { return }
            $0.launches.remove(at: index)
            $0.fates[request] = nil
            $0.fates = Dictionary(
              uniqueKeysWithValues: $0.fates.map { ($0.key > request ? $0.key - 1 : $0.key, $0.value) })
          }
        }
    }
  }

  private static func fates(_ scenario: Scenario) -> [Change] {
    let requests = scenario.fates.keys.sorted()
    var changes = [change { $0.fates = [:] }]
    // The changes remove halves of the faults, then quarters and so on, and finally single faults.
    var size = max(1, requests.count / 2)
    while true {
      for begin in stride(from: 0, to: requests.count, by: size) {
        let taken = requests[begin..<min(begin + size, requests.count)]
        changes.append(change { for request in taken { $0.fates[request] = nil } })
      }
      if size == 1 { break }
      size /= 2
    }
    for (request, fault) in scenario.fates.sorted(by: { $0.key < $1.key }) {
      if request > 0, scenario.fates[request - 1] == nil, requests.count < 12 {
        changes.append(
          change {
            $0.fates[request] = nil
            $0.fates[request - 1] = fault
          })
      }
    }
    return changes
  }

  private static func uploads(_ scenario: Scenario) -> [Change] {
    var changes: [Change] = []
    if scenario.manifest.uploads.count > 1 {
      for index in scenario.manifest.uploads.indices {
        changes.append(
          change {
            guard $0.manifest.uploads.count > 1, $0.manifest.uploads.indices.contains(index) else { return }
            let name = $0.manifest.uploads.remove(at: index).name
            $0.files.remove(at: index)
            for index in $0.manifest.uploads.indices where $0.manifest.uploads[index].needsOther == name {
              $0.manifest.uploads[index].needsOther = nil
            }
            $0.manifest.fetch?.needs.removeAll { $0 == name }
            $0.manifest.request?.needs.removeAll { $0 == name }
          })
      }
    }
    for (index, upload) in scenario.manifest.uploads.enumerated() {
      func at(_ body: @escaping @Sendable (inout UploadSpec) -> Void) {
        changes.append(
          change {
            if $0.manifest.uploads.indices.contains(index) { body(&$0.manifest.uploads[index]) }
          })
      }
      func files(_ body: @escaping @Sendable (inout [Int64]) -> Void) {
        changes.append(change { if $0.files.indices.contains(index) { body(&$0.files[index]) } })
      }
      files { $0 = Array($0.prefix(1)) }
      files { $0 = Array($0.prefix($0.count / 2)) }
      changes += withoutAFile(scenario, of: index)
      for file in scenario.files[index].indices.reversed() {
        files { if $0.indices.contains(file) { $0.remove(at: file) } }
        files { if $0.indices.contains(file) { $0[file] = 10 } }
      }
      at { $0.shape = .put }
      if upload.shape != .put { at { $0.shape = .post } }
      if upload.shape == .startsOver { at { $0.shape = .ids } }
      if upload.shape == .tusPartials { at { $0.shape = .tusCreation } }
      if [.parts, .patches, .tus, .s3].contains(upload.shape) { at { $0.shape = .partsOnly } }
      at { $0.maxItems = nil }
      at { $0.maxBytes = nil }
      at { $0.commitHost = .same }
      at { $0.hasToken = false }
      at { $0.usesQuick = false }
      at { $0.abandons = false }
      at { $0.isEveryRun = false }
      at { $0.needsOther = nil }
      at { $0.validForSeconds = 3600 }
      at { $0.retries = 3 }
      at { $0.priority = 50 }
    }
    return changes
  }

  /// Removes a file, and moves the faults earlier by the number of requests that the file may have taken.
  private static func withoutAFile(_ scenario: Scenario, of upload: Int) -> [Change] {
    guard 1..<12 ~= scenario.fates.count else { return [] }
    return (1...4).map { requests in
      change {
        guard $0.files.indices.contains(upload), $0.files[upload].count > 1 else { return }
        $0.files[upload].removeLast()
        $0.fates = Dictionary(
          uniqueKeysWithValues: $0.fates.filter { $0.key >= requests }
            .map { ($0.key - requests, $0.value) })
      }
    }
  }

  /// Removes the token, and moves the faults so that they still affect the same requests.
  private static func tokens(_ scenario: Scenario) -> [Change] {
    func without(_ fates: [Int: FaultKind]?) -> Change {
      change {
        $0.manifest.hasToken = false
        for index in $0.manifest.uploads.indices { $0.manifest.uploads[index].hasToken = false }
        $0.manifest.fetch?.hasToken = false
        $0.manifest.request?.hasToken = false
        if let fates { $0.fates = fates }
      }
    }
    guard scenario.manifest.hasToken, 1...3 ~= scenario.fates.count else { return [without(nil)] }
    // The number of token requests before each fault is unknown, but it is never smaller than before the
    // previous fault.
    var shifts: [[Int]] = [[]]
    for _ in scenario.fates {
      shifts = shifts.flatMap { shift in ((shift.last ?? 0)...4).map { shift + [$0] } }
    }
    let fates = scenario.fates.sorted { $0.key < $1.key }
    return shifts.map { shift in
      without(Dictionary(zip(fates, shift).map { (max(0, $0.key - $1), $0.value) }) { $1 })
    }
  }

  private static let keys: [Change] = [
    change { $0.manifest.profile = .server },
    change { $0.manifest.fetch = nil },
    change { $0.manifest.request = nil },
    change { $0.manifest.wifi = nil },
    change { $0.manifest.wired = nil },
    change { $0.manifest.cellular = nil },
    change { $0.manifest.any = nil },
    change { $0.manifest.delay = nil },
    change { $0.manifest.delayReset = nil },
    change { $0.manifest.delayInitialSeconds = 60 },
    change { $0.manifest.delayMaxSeconds = 21_600 },
    change { $0.manifest.windowSeconds = nil },
    change { $0.manifest.resumeWindowSeconds = nil },
    change { $0.manifest.discretionary = nil },
    change { $0.manifest.allowsCellular = true },
    change { $0.manifest.allowsExpensive = true },
    change { $0.manifest.timeoutForResource = "400d" },
    change { $0.manifest.connections = 1 },
    change { $0.manifest.quickConnections = 1 },
    change { $0.manifest.isBackground = false },
    change { $0.manifest.request?.needs = [] },
    change { $0.manifest.request?.when = "succeeded" },
    change { $0.manifest.request?.isPost = false },
    change { $0.manifest.request?.hasToken = false },
    change { $0.manifest.fetch?.needs = [] },
    change { $0.manifest.fetch?.interval = nil },
    change { $0.isBrisk = true },
    change { $0.writeDelayMilliseconds = 0 },
    change { $0.leaseDelayMilliseconds = 0 },
    change { $0.progressSeconds = nil },
    change { $0.lingers = false },
    change { $0.portion = nil },
    change { $0.listingDelayMilliseconds = 2 },
  ]

  private static func details(_ scenario: Scenario) -> [Change] {
    var changes: [Change] = []
    for (index, launch) in scenario.launches.enumerated() {
      func at(_ body: @escaping @Sendable (inout LaunchSpec) -> Void) {
        changes.append(change { if $0.launches.indices.contains(index) { body(&$0.launches[index]) } })
      }
      at { $0.happenings = [] }
      for happening in launch.happenings.indices.reversed() {
        at { if $0.happenings.indices.contains(happening) { $0.happenings.remove(at: happening) } }
        at {
          guard $0.happenings.indices.contains(happening) else { return }
          $0.happenings[happening].afterMilliseconds /= 2
        }
      }
      at { $0.newSizes = [] }
      at { $0.newSizes = Array($0.newSizes.prefix(1)) }
      at { $0.changed = 0 }
      at { $0.limit = nil }
      at { $0.maxDurationMilliseconds = nil }
      at { $0.patienceSeconds = 0 }
      at { $0.actionsToLive = nil }
      at { $0.losesPower = false }
      at { $0.conditions = DeviceConditions() }
      at { $0.conditions.isExpensive = $0.conditions.network == .cellular }
      at { $0.conditions.power = .external }
      at { $0.kind = .background }
      at { $0.pauseSeconds = 60 }
      at { $0.pauseSeconds = 0 }
    }
    return changes
  }

  /// Lets the process die earlier.
  private static func bisections(_ scenario: Scenario) -> [Change] {
    scenario.launches.indices.flatMap { index -> [Change] in
      let step: @Sendable (@escaping @Sendable (Int) -> Int) -> Change = { smaller in
        change {
          guard $0.launches.indices.contains(index), let life = $0.launches[index].actionsToLive, life > 1
          else { return }
          $0.launches[index].actionsToLive = smaller(life)
        }
      }
      return [step { $0 / 2 }, step { $0 - 1 }]
    }
  }
}
