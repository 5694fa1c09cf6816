import FerryPlan

/// Everything that decides how a world goes: the same scenario is the same history.
package struct Scenario: Hashable, Sendable {
  package var seed: UInt64
  package var manifest: ManifestSpec
  /// By upload: the sizes of the files that are there from the beginning.
  package var files: [[Int64]]
  package var launches: [LaunchSpec]
  /// By the requests' order in the world.
  package var fates: [Int: Fate]
  /// Every request takes 10 ms, and its body's time.
  package var isBrisk = false
  package var writeDelayMilliseconds = 0
  package var leaseDelayMilliseconds = 0
  package var progressSeconds: Int?
  /// Cancelled requests take their time to end.
  package var lingers = false

  /// So many seeds in a row share a manifest, as reading one takes longer than living in it.
  package static let sharing: UInt64 = 8

  package init(seed: UInt64) {
    self.seed = seed
    var manifestDice = Dice(seed: seed / Self.sharing &* 0x9E6D_62D0_6F6A_9A9B)
    let manifest = ManifestSpec.random(&manifestDice)
    self.manifest = manifest
    var dice = Dice(seed: seed)
    files = []
    for _ in manifest.uploads { files.append((0..<dice.roll(1...7)).map { _ in UploadSpec.size(&dice) }) }
    launches = []
    for _ in 0..<dice.roll(1...6) { launches.append(.random(&dice, uploads: manifest.uploads.count)) }
    fates = [:]
    // From a world without a fault to one in which every third request fails.
    let rate = dice.one(of: [0, 5, 20, 33])
    for request in 0..<300 where dice.roll(100) < rate { fates[request] = .random(&dice) }
    writeDelayMilliseconds = dice.one(of: [0, 0, 3])
    leaseDelayMilliseconds = dice.one(of: [0, 0, 20])
    progressSeconds = dice.one(of: [nil, 1])
    lingers = dice.once(in: 3)
  }

  /// What a random choice of the seed and a place comes to, the same however the scenario is shrunk.
  func chance(_ place: Int, _ count: Int) -> Int {
    var dice = Dice(seed: seed ^ (UInt64(place) &* 0x9E37_79B9_7F4A_7C15))
    return dice.roll(count)
  }
}
