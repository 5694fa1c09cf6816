import Foundation

/// The library of Faults: it makes ferry's state folder fail, or remember what is done to it, and sets its clock.
enum StateFaults {
  /// Where the library is; `nil` where nothing here can compile or preload it.
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

  /// An unnoticed skip would look like a pass.
  static let isThere: Bool = {
    #if os(Linux)
    if RunningCommand.find("cc") ?? RunningCommand.find("clang") != nil { return true }
    #endif
    FileHandle.standardError.write(
      Data("\n!!!! SKIPPED: the tests of failing disks and set clocks need Linux and a C compiler\n\n".utf8))
    return false
  }()

  /// The environment in which the time of day is read from a file.
  ///
  /// - Parameter file: contains the shift in seconds, and may be rewritten.
  static func environment(clock file: String) async throws -> [String: String] {
    ["LD_PRELOAD": try await library.value ?? "", "STATE_FAULTS_CLOCK": file]
  }

  /// The environment in which a program has the library.
  ///
  /// - Parameters:
  ///   - settings: of the library, without `STATE_FAULTS_`.
  ///   - state: the folder that it is about, which need not be there yet.
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
