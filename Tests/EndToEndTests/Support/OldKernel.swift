import Foundation

/// Runs programs without certain system calls; see Faults/old-kernel.c.
enum OldKernel {
  /// The path of the program that starts other programs; `nil` if this machine cannot compile it.
  private static let program = Task<String?, any Error> {
    #if os(Linux)
    guard let compiler = RunningCommand.find("cc") ?? RunningCommand.find("clang") else { return nil }
    let program = Product.path("old-kernel-\(ProcessInfo.processInfo.processIdentifier)")
    let command = try await Command.run(
      compiler,
      [
        "-O2", "-Wall", "-Wextra", "-Werror", "-o", program,
        Product.source("Tests/EndToEndTests/Faults/old-kernel.c"),
      ])
    guard command.status == 0 else { throw CommandFailure(description: command.stderr) }
    return program
    #else
    return nil
    #endif
  }

  /// Whether this machine can run programs without certain system calls.
  static func isThere() async throws -> Bool {
    guard let program = try await program.value else { return skipped() }
    // A container may forbid additional filters.
    let trial = try await Command.run(program, ["openat2=ENOSYS", "--", "/bin/true"])
    return trial.status == 0 ? true : skipped()
  }

  /// Prints a message, because an unnoticed skip would look like a pass. Returns `false`.
  private static func skipped() -> Bool {
    FileHandle.standardError.write(
      Data("\n!!!! SKIPPED: the tests of old kernels need Linux, a C compiler and seccomp(2)\n\n".utf8))
    return false
  }

  /// Runs a workspace's manifest to its end.
  ///
  /// - Parameter answers: the results of system calls, such as `renameat2=ENOSYS`.
  static func run(_ job: Workspace, without answers: [String]) async throws -> Command {
    try await start(job, without: answers).end()
  }

  /// Starts a run of a workspace's manifest.
  static func start(_ job: Workspace, without answers: [String]) async throws -> RunningCommand {
    guard let program = try await program.value else {
      throw CommandFailure(description: "nothing here can start it")
    }
    let ferry = [Product.path("ferry"), "run", "job.yaml", "--report", "report.json"]
    return try job.start(answers + ["--"] + ferry, program: program)
  }
}
