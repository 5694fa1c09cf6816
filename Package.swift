// swift-tools-version: 6.2
import PackageDescription

/// Every target of ours is in the Swift 6 language mode, and a warning is an error.
///
/// Release builds specialize and inline functions across modules, and do not check at run time that accesses to the same
/// memory do not overlap. The tests run with these checks.
let strict: [SwiftSetting] = [
  .treatAllWarnings(as: .error),
  .unsafeFlags(
    ["-cross-module-optimization", "-enforce-exclusivity=unchecked"], .when(configuration: .release)),
]

let package = Package(
  name: "ferry",
  platforms: [.macOS(.v15)],
  products: [
    .executable(name: "ferry", targets: ["ferry"]),
    .executable(name: "ferry-receiver", targets: ["ferry-receiver"]),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
    .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    .package(url: "https://github.com/swhitty/FlyingFox", from: "0.27.1"),
  ],
  targets: [
    // The system's libraries.
    .systemLibrary(name: "CYaml", pkgConfig: "yaml-0.1", providers: [.apt(["libyaml-dev"])]),
    .systemLibrary(
      name: "CCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
    .systemLibrary(name: "CCrypto", pkgConfig: "openssl", providers: [.apt(["libssl-dev"])]),
    .systemLibrary(name: "CFiles"),
    .systemLibrary(name: "CProcess"),
    .systemLibrary(name: "CPCRE2", pkgConfig: "libpcre2-8", providers: [.apt(["libpcre2-dev"])]),
    .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
    .systemLibrary(name: "CExpat", pkgConfig: "expat", providers: [.apt(["libexpat1-dev"])]),

    // Replaces the data of all languages in Foundation, which ferry does not use.
    .target(name: "CUnicodeData"),

    // ferry, from the text to the report; imports go one way only (docs/internals/architecture.md).
    .target(
      name: "FerryManifest", dependencies: ["CYaml", "CPCRE2", "FerryDigest"], swiftSettings: strict),
    .target(
      name: "FerryPlan",
      dependencies: [
        "FerryDigest", "FerryManifest",
        .product(name: "HeapModule", package: "swift-collections"),
      ],
      swiftSettings: strict),
    .target(
      name: "FerrySimulation",
      dependencies: [
        "FerryManifest", "FerryPlan", .product(name: "HeapModule", package: "swift-collections"),
      ],
      swiftSettings: strict),
    .target(name: "FerryProcess", dependencies: ["CProcess"], swiftSettings: strict),
    .target(name: "FerryDigest", dependencies: ["CCrypto"], swiftSettings: strict),
    .target(
      name: "FerryReport",
      dependencies: ["FerryDigest", "FerryManifest", "FerryPlan", "FerrySimulation"],
      swiftSettings: strict),
    .target(
      name: "FerryTransfer",
      dependencies: [
        "FerryDigest", "FerryPlan", "FerryProcess", "CCrypto", "CCurl", "CFiles", "CZlib",
      ],
      swiftSettings: strict),
    .target(
      name: "FerryJournal",
      dependencies: [
        "FerryPlan", "FerryProcess",
        .product(name: "GRDB", package: "GRDB.swift"),
        .product(name: "GRDBSQLite", package: "GRDB.swift"),
      ],
      swiftSettings: strict),
    .target(
      name: "FerryEngine",
      dependencies: [
        "FerryDigest", "FerryManifest", "FerryPlan", "FerryProcess", "FerryTransfer", "FerryJournal",
        "FerryReport", "CFiles", "CExpat",
      ],
      swiftSettings: strict),
    .executableTarget(
      name: "ferry",
      dependencies: [
        "CUnicodeData", "FerryManifest", "FerryPlan", "FerrySimulation", "FerryReport", "FerryProcess",
        "FerryEngine", .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      swiftSettings: strict),

    // Random worlds for the scheduler: make simulate.
    .target(
      name: "FerryWorld", dependencies: ["FerryManifest", "FerryPlan", "FerrySimulation"],
      swiftSettings: strict),
    .executableTarget(
      name: "ferry-simulate",
      dependencies: ["FerryWorld", .product(name: "ArgumentParser", package: "swift-argument-parser")],
      swiftSettings: strict),

    // A server to try manifests against.
    .target(
      name: "Receiver",
      dependencies: [
        "FerryDigest", .product(name: "FlyingFox", package: "FlyingFox"),
      ],
      swiftSettings: strict),
    .executableTarget(
      name: "ferry-receiver",
      dependencies: [
        "FerryProcess", "Receiver",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      swiftSettings: strict),

    .testTarget(
      name: "FerryManifestTests", dependencies: ["FerryManifest"],
      exclude: ["Agreement", "Effective", "Golden", "Whole"],
      swiftSettings: strict),
    .testTarget(
      name: "FerryPlanTests",
      dependencies: ["FerryDigest", "FerryPlan", "FerryManifest", "FerrySimulation", "FerryWorld"],
      swiftSettings: strict),
    .testTarget(
      name: "FerryWorldTests", dependencies: ["FerryWorld", "FerryPlan"], swiftSettings: strict),
    .testTarget(name: "FerryDigestTests", dependencies: ["FerryDigest"], swiftSettings: strict),
    .testTarget(name: "FerryProcessTests", dependencies: ["FerryProcess"], swiftSettings: strict),
    .testTarget(
      name: "FerryTransferTests", dependencies: ["FerryDigest", "FerryTransfer", "FerryPlan"],
      swiftSettings: strict),
    .testTarget(
      name: "FerryJournalTests",
      dependencies: [
        "FerryJournal", "FerryPlan", "FerryProcess", .product(name: "GRDB", package: "GRDB.swift"),
      ],
      exclude: ["Files", "Released"],
      swiftSettings: strict),
    .testTarget(
      name: "FerryEngineTests",
      dependencies: [
        "FerryDigest", "FerryEngine", "FerryManifest", "FerryPlan", "FerryProcess", "FerryTransfer",
        "FerryJournal", "FerryReport", "CFiles", .product(name: "GRDB", package: "GRDB.swift"),
      ],
      swiftSettings: strict),
    .testTarget(
      name: "ReceiverTests", dependencies: ["Receiver"], swiftSettings: strict),
    .testTarget(
      name: "EndToEndTests", dependencies: ["ferry", "ferry-receiver"],
      exclude: ["Browser", "Container", "Faults", "Kubernetes", "NFS", "Servers", "Slurm"],
      swiftSettings: strict),
  ]
)
