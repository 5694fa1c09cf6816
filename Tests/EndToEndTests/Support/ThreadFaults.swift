import Foundation

/// The library Faults/thread-faults.c, with which the creation of the nth thread and of all later ones fails.
enum ThreadFaults {
  private static let library = Task<String?, any Error> {
    #if os(Linux)
    guard let compiler = RunningCommand.find("cc") ?? RunningCommand.find("clang") else { return nil }
    let library = Product.path("thread-faults-\(ProcessInfo.processInfo.processIdentifier).so")
    let command = try await Command.run(
      compiler,
      [
        "-shared", "-fPIC", "-O2", "-Wall", "-Wextra", "-Werror", "-o", library,
        Product.source("Tests/EndToEndTests/Faults/thread-faults.c"), "-ldl",
      ])
    guard command.status == 0 else { throw CommandFailure(description: command.stderr) }
    return library
    #else
    return nil
    #endif
  }

  /// The environment in which a program can create only this many threads in addition to its first one.
  static func environment(threads: Int) async throws -> [String: String] {
    ["LD_PRELOAD": try await library.value ?? "", "THREAD_FAULTS_FROM": "\(threads)"]
  }
}
