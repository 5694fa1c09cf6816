import FerryPlan

/// All inputs that determine the course of a world. The same scenario produces the same history.
package struct Scenario: Hashable, Sendable {
  package var seed: UInt64
  package var manifest: ManifestSpec
  /// The sizes of the files that exist at the start, by upload.
  package var files: [[Int64]]
  package var launches: [LaunchSpec]
  /// The faults, by the index of the request in the world.
  package var fates: [Int: FaultKind]
  /// Whether every request takes 10 ms plus the time for its body.
  package var isBrisk = false
  package var writeDelayMilliseconds = 0
  package var leaseDelayMilliseconds = 0
  package var progressSeconds: Int?
  /// Whether canceled requests take some time to end.
  package var lingers = false
  /// The number of files in each portion of a listing, if files arrive in portions.
  package var portion: Int?
  /// The time that it takes to list a portion or the submitted files. It may be longer than the requests of the
  /// previous portion take.
  package var listingDelayMilliseconds = 2

  /// The number of consecutive seeds that share a manifest. Reading a manifest takes longer than running its
  /// world.
  package static let sharing: UInt64 = 8

  package init(seed: UInt64) {
    self.seed = seed
    var manifestRandom = RandomSource(seed: seed / Self.sharing &* 0x9E6D_62D0_6F6A_9A9B)
    let manifest = ManifestSpec.random(&manifestRandom)
    self.manifest = manifest
    var random = RandomSource(seed: seed)
    files = []
    for _ in manifest.uploads { files.append((0..<random.roll(1...7)).map { _ in UploadSpec.size(&random) }) }
    launches = []
    for _ in 0..<random.roll(1...6) { launches.append(.random(&random, uploads: manifest.uploads.count)) }
    fates = [:]
    // The percentage of requests that a fault affects.
    let rate = random.one(of: [0, 5, 20, 33])
    for request in 0..<300 where random.roll(100) < rate { fates[request] = .random(&random) }
    writeDelayMilliseconds = random.one(of: [0, 0, 3])
    leaseDelayMilliseconds = random.one(of: [0, 0, 20])
    progressSeconds = random.one(of: [nil, 1])
    lingers = random.once(in: 3)
    portion = chance(0x9047, 2) == 0 ? nil : 1 + chance(0x9048, 3)
    listingDelayMilliseconds = [2, 2, 100, 5_000][chance(0x9049, 4)]
  }

  /// A random number derived from the seed and `number`. It does not change when the scenario is shrunk.
  func chance(_ number: Int, _ count: Int) -> Int {
    var random = RandomSource(seed: seed ^ (UInt64(number) &* 0x9E37_79B9_7F4A_7C15))
    return random.roll(count)
  }
}
