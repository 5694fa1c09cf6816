import Foundation

/// The library in Faults that makes operations in ferry's state folder fail, records them, or changes ferry's clock.
enum StateFaults {
  /// The library's path; `nil` if this machine cannot compile or preload it.
  static let library = Task<String?, any Error> {
    #if os(Linux)
    guard let compiler = RunningCommand.find("cc") ?? RunningCommand.find("clang") else { return nil }
    let library = Product.path("state-faults-\(ProcessInfo.processInfo.processIdentifier).so")
    let command = try await Command.run(
      compiler,
      [
        "-shared", "-fPIC", "-O2", "-Wall", "-Wextra", "-Werror", "-o", library,
        Product.source("Tests/EndToEndTests/Faults/state-faults.c"),
        Product.source("Tests/EndToEndTests/Faults/clock.c"), "-ldl", "-lpthread",
      ])
    guard command.status == 0 else { throw CommandFailure(description: command.stderr) }
    return library
    #else
    return nil
    #endif
  }

  /// Whether the library is available. If not, a message is printed, because an unnoticed skip would look like a pass.
  static let isThere: Bool = {
    #if os(Linux)
    if RunningCommand.find("cc") ?? RunningCommand.find("clang") != nil { return true }
    #endif
    FileHandle.standardError.write(
      Data("\n!!!! SKIPPED: the tests of failing disks and set clocks need Linux and a C compiler\n\n".utf8))
    return false
  }()

  /// The environment with which a program reads the shift of its clock from a file.
  ///
  /// - Parameter file: a file that contains the shift in seconds, and may be rewritten.
  static func environment(clock file: String) async throws -> [String: String] {
    ["LD_PRELOAD": try await library.value ?? "", "STATE_FAULTS_CLOCK": file]
  }

  /// The environment with which a program loads the library.
  ///
  /// - Parameters:
  ///   - settings: settings of the library, without the prefix `STATE_FAULTS_`.
  ///   - state: the folder to which the settings apply. It may be created later.
  static func environment(_ settings: [String: String], state: String, log: String) async throws
    -> [String: String]
  {
    let folder = URL(filePath: state).deletingLastPathComponent().resolvingSymlinksInPath()
      .appending(path: URL(filePath: state).lastPathComponent).path(percentEncoded: false)
    var environment = ["LD_PRELOAD": try await library.value ?? ""]
    for (name, value) in settings { environment["STATE_FAULTS_\(name)"] = value }
    environment["STATE_FAULTS_DIR"] = folder
    environment["STATE_FAULTS_LOG"] = log
    return environment
  }
}
