import ArgumentParser
import FerryEngine
import FerryPlan
import FerryProcess
import Foundation

/// The command line. Each subcommand has its own file.
///
/// Each subcommand states its `commandName`: without it, ArgumentParser derives the name from the type with
/// `String(describing:)`, which searches every protocol conformance of the program at each start.
@main
struct Ferry: ParsableCommand {
  static let version = "0.1.0"

  static let configuration = CommandConfiguration(
    commandName: "ferry", abstract: "Background transfers for cron and CI.",
    discussion: """
      ferry runs the transfers that a YAML manifest describes, resumes interrupted transfers, \
      and writes a JSON report.
      """,
    version: "ferry \(version)",
    subcommands: [
      Check.self, Schema.self, PlanCommand.self, Next.self, Run.self, Resume.self, ShardCommand.self,
      Submit.self, Status.self,
      Explain.self, Resolve.self, Orphans.self, Report.self, Runs.self, Cancel.self, Reset.self,
      JournalCommand.self,
    ])

  /// Rejects a working directory whose path is too long or is not valid UTF-8. Relative paths are resolved against this
  /// path as a string, and the string could otherwise be the path of a different folder.
  private static func requireNamedFolder() throws {
    guard let path = getcwd(nil, 0) else {
      throw UsageError(
        "the working directory cannot be determined: \(String(cString: strerror(errno))); nothing was done\n"
          + "help: run ferry in a folder that exists and that you may read")
    }
    defer { free(path) }
    guard String(validatingCString: path) != nil else {
      throw UsageError(
        "the name of the working directory is not UTF-8; nothing was done\nhelp: rename the folder, or run ferry in a different folder"
      )
    }
    // If the path has `PATH_MAX` bytes or more, Foundation reports no working directory, and resolves relative paths
    // against `/`.
    guard strlen(path) < Int(PATH_MAX) else {
      throw UsageError(
        "the path of the working directory is longer than \(PATH_MAX - 1) bytes; nothing was done\n"
          + "help: run ferry in a different folder")
    }
  }

  /// Environment variables that specify folders. Without them, ferry would use other folders.
  private static let folderVariables: Set = ["HOME", "FERRY_STATE", "XDG_STATE_HOME", "TMPDIR"]

  private static func requireUTF8(removed variables: [String]) throws(UsageError) {
    guard let name = variables.first(where: folderVariables.contains) else { return }
    throw UsageError(
      "environment variable '\(name)' is not UTF-8; nothing was done\nhelp: set it to a path in UTF-8")
  }

  private static func arguments() throws -> [String] {
    do throws(CommandLineArguments.Failure) {
      return try CommandLineArguments.find()
    } catch {
      switch error {
      case .missing:
        throw EngineFault(
          .fault,
          "cannot read the command line from /proc/self/cmdline; nothing was done\n"
            + "help: mount /proc where ferry runs, and run ferry again")
      case .notUTF8(let number):
        throw UsageError(
          "argument \(number) is not UTF-8; nothing was done\n"
            + "help: put the names of such files in a list, one per line (`list:`, `ferry submit --list`)")
      }
    }
  }

  static func main() {
    // Core dumps must be disabled before any secret is read.
    CoreDumps.forbid()
    OpenFiles.fillStandardStreams()
    // A run must not end because the reader of its output exits. libcurl also ignores SIGPIPE, but only
    // later.
    signal(SIGPIPE, SIG_IGN)
    // A write beyond RLIMIT_FSIZE (setrlimit(2)) then fails like a write to a full disk, and does not kill
    // the run.
    signal(SIGXFSZ, SIG_IGN)
    do {
      try OpenFiles.allowMany()
      let removed = UTF8Environment.removeOthers()
      let arguments = try arguments()
      // ArgumentParser examines every command first, which takes more than a third of the start.
      if arguments == ["--version"] { return try Output.produce("\(configuration.version)\n") }
      try CommandName.check(arguments)
      var command = try parseAsRoot(arguments)
      try requireUTF8(removed: removed)
      try requireMemory()
      try requireNamedFolder()
      try command.run()
    } catch let code as ArgumentParser.ExitCode {
      exit(code)
    } catch let error as UsageError {
      complain("ferry: \(error)")
      Foundation.exit(usageCode)
    } catch let error as EngineFault {
      complain("ferry: \(error)")
      Foundation.exit(error.exitCode.rawValue)
    } catch {
      let isUsage = exitCode(for: error) == .validationFailure
      if isUsage || exitCode(for: error) == .success {
        exit(telling: fullMessage(for: error), isUsage: isUsage)
      }
      let text = EngineFault.describe(error)
      complain(text.hasPrefix("ferry: ") ? text : "ferry: \(text)")
      Foundation.exit(EngineFault.exitCode(of: error).rawValue)
    }
  }

  /// Checks the address space before any work, because the Swift runtime and Foundation terminate the process
  /// with a signal if an allocation fails.
  private static func requireMemory() throws(EngineFault) {
    guard !AddressSpace.hasRoom(for: leastMemory) else { return }
    throw EngineFault(
      .fault,
      "less than \(leastMemory >> 20) MiB of address space is available; nothing was done\n"
        + "help: raise the limit (ulimit -v), and run ferry again")
  }

  /// The number of bytes that a run needs, in addition to the program itself, for its threads and a few
  /// thousand files.
  private static let leastMemory = 64 << 20

  /// Prints an error. The error may quote arguments and file names, so control characters are escaped.
  private static func complain(_ text: String) {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map {
      DisplayPath.line(String($0))
    }
    Output.complain(lines.joined(separator: "\n"))
  }

  /// The exit code for incorrect usage. `ferry plan --detailed-exitcode` exits with 2 if there is something to do.
  private static var usageCode: Int32 {
    CommandLine.arguments.contains("--detailed-exitcode") ? 1 : FerryPlan.ExitCode.usage.rawValue
  }

  /// Prints a usage error or the requested help, and exits.
  private static func exit(telling text: String, isUsage: Bool) -> Never {
    if isUsage {
      complain(text)
      Foundation.exit(usageCode)
    }
    do throws(EngineFault) {
      try Output.produce(text + "\n")
    } catch {
      complain("ferry: \(error)")
      Foundation.exit(error.exitCode.rawValue)
    }
    Foundation.exit(0)
  }

  private static func exit(_ code: ArgumentParser.ExitCode) -> Never { Foundation.exit(code.rawValue) }
}
