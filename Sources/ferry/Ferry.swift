import ArgumentParser
import FerryEngine
import FerryPlan
import FerryProcess
import Foundation

/// The command line: one file a subcommand.
@main
struct Ferry: ParsableCommand {
  static let version = "0.1.0"

  static let configuration = CommandConfiguration(
    commandName: "ferry", abstract: "Background transfers for cron and CI.",
    discussion: """
      A YAML manifest says what to move; ferry moves it, goes on where it was interrupted, \
      and leaves a JSON report.
      """,
    version: "ferry \(version)",
    subcommands: [
      Check.self, Schema.self, PlanCommand.self, Next.self, Run.self, Resume.self, Submit.self, Status.self,
      Explain.self, Resolve.self, Orphans.self, Report.self, Cancel.self, Reset.self, JournalCommand.self,
    ])

  static func main() {
    // Before a secret is read.
    CoreDumps.forbid()
    OpenFiles.fillStandardStreams()
    // A reader of our output that has gone must not end a run; libcurl ignores it too, but only later.
    signal(SIGPIPE, SIG_IGN)
    // A file that may not grow is told like a full disk (setrlimit(2), RLIMIT_FSIZE), and kills no run.
    signal(SIGXFSZ, SIG_IGN)
    do {
      try OpenFiles.allowMany()
      guard let words = CommandLineArguments.find() else {
        throw EngineFault(
          .fault,
          "the command line cannot be read from /proc/self/cmdline\n"
            + "help: mount /proc where ferry runs, and run again; nothing was done")
      }
      var command = try parseAsRoot(words)
      try requireMemory()
      try command.run()
    } catch let code as ArgumentParser.ExitCode {
      exit(code)
    } catch let error as UsageError {
      complain("ferry: \(error)")
      Foundation.exit(FerryPlan.ExitCode.usage.rawValue)
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

  /// Swift's runtime and Foundation end the process by a signal where an allocation fails, so too little address
  /// space is found before anything is done.
  private static func requireMemory() throws(EngineFault) {
    guard !AddressSpace.hasRoom(for: leastMemory) else { return }
    throw EngineFault(
      .fault,
      "less than \(leastMemory >> 20) MiB of address space can be allocated\n"
        + "help: allow more (ulimit -v), and run again; nothing was done")
  }

  /// Beside the program itself: a run with its threads and a few thousand files.
  private static let leastMemory = 64 << 20

  /// Prints an error. It may quote arguments and file names, so no terminal may obey it.
  private static func complain(_ text: String) {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map {
      NameText.line(String($0))
    }
    Output.complain(lines.joined(separator: "\n"))
  }

  /// Help that was asked for, or what is wrong with the command line.
  private static func exit(telling text: String, isUsage: Bool) -> Never {
    if isUsage {
      complain(text)
      Foundation.exit(FerryPlan.ExitCode.usage.rawValue)
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
