import Foundation

/// Python modules that the tests need.
enum PythonModules {
  /// The first Python that has these modules: the one that scripts/setup installs, the first one in PATH, or Debian's;
  /// `nil` if none has them.
  static func python(with modules: [String]) -> String? {
    let known = [Product.source(".build/python/bin/python3"), "python3", "/usr/bin/python3"]
    return known.first { python in
      let found = python.contains("/") ? python : RunningCommand.find(python)
      guard let found, FileManager.default.isExecutableFile(atPath: found) else { return false }
      let process = Process()
      process.executableURL = URL(filePath: found)
      process.arguments = ["-c", "import " + modules.joined(separator: ", ")]
      process.standardError = FileHandle.nullDevice
      // A Python that cannot be started does not have the modules.
      guard (try? process.run()) != nil else { return false }
      process.waitUntilExit()
      return process.terminationStatus == 0
    }
  }
}
