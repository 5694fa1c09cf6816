import Foundation

/// The programs of this package, from the same build as the tests.
enum Product {
  /// The path of an executable product, such as `ferry`.
  static func path(_ name: String) -> String { folder.appending(path: name).path(percentEncoded: false) }

  /// The folder of the test bundle, which also contains the built programs.
  private static let folder: URL = {
    #if os(Linux)
    // On Linux, the test bundle is the running program.
    return URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
    #else
    let bundle = Bundle.allBundles.first { $0.bundleURL.pathExtension == "xctest" } ?? Bundle.main
    return bundle.bundleURL.deletingLastPathComponent()
    #endif
  }()

  /// The package's folder, for its scripts and manifests.
  static let package = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()

  /// The path of a file of the package, such as `jobs/registry.yaml`.
  static func source(_ path: String) -> String { package.appending(path: path).path(percentEncoded: false) }
}
