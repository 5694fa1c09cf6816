import ArgumentParser
import FerryEngine
import FerryPlan
import FerryReport
import Foundation

/// `ferry submit`: queues files for the current or next process that runs the session, and exits.
struct Submit: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "submit",
    abstract: "Queue files of an upload for the current or the next run, and exit.",
    discussion:
      "Without file arguments, the command queues the files that the upload's 'files' currently selects.")

  enum Format: String, ExpressibleByArgument, CaseIterable {
    case text
    case json
  }

  @OptionGroup var source: ManifestOptions

  @Argument(help: "The name of the upload.")
  var upload: String

  @Argument(help: "Files inside the upload's root.", completion: .file())
  var files: [String] = []

  @Option(help: "Read file paths from this file, one per line; '-' means standard input.")
  var list: String?

  @Flag(help: "Paths in the list are terminated by NUL instead of a line break.")
  var null = false

  @OptionGroup var state: StateOptions

  @Option(help: "Output format.")
  var format = Format.text

  func validate() throws {
    if list != nil, !files.isEmpty { throw ValidationError("specify files or --list, but not both") }
    if null, list == nil { throw ValidationError("--null requires --list") }
  }

  func run() throws {
    let job = try source.read()
    let receipt = try Submission(
      job, upload: upload, state: state.state, environment: ProcessInfo.processInfo.environment,
      version: Ferry.version
    ).leave(try wanted())
    for problem in receipt.problems { Output.complain("ferry: \(receipt.upload): \(problem)") }
    if let more = receipt.problemsOmitted { Output.complain("ferry: \(receipt.upload): and \(more) more") }
    switch format {
    case .text: try Output.produce(try text(receipt) + "\n")
    case .json: try Output.produce(try JSONText.pretty(receipt))
    }
  }

  private func wanted() throws -> Submission.Files {
    if let list {
      let bytes = try SubmittedList.bytes(list)
      return .named(bytes.split(separator: null ? 0 : UInt8(ascii: "\n")).map(Array.init))
    }
    return files.isEmpty ? .listed : .named(files.map { Array($0.utf8) })
  }

  private func text(_ receipt: Submission.Receipt) throws -> String {
    guard receipt.files > 0 else { return "\(receipt.upload): no files to queue" }
    let files = receipt.files == 1 ? "it" : "them"
    let holder =
      receipt.pid.map {
        "process \($0) was asked to send \(files); the next run sends every file that the process does not send"
      }
      ?? "the next run will send \(files)"
    let exception =
      try receipt.ambiguous.map {
        ", except \(Count.text($0, "ambiguous file")) awaiting a decision\n"
          + "  to list ambiguous items with the commands that resolve them, run: "
          + (try state.command("status", receipt.session))
      } ?? ""
    return
      "\(receipt.upload): \(Count.text(receipt.files, "file")) (\(ByteText.text(receipt.bytes))) queued in "
      + "session '\(receipt.session)'; \(holder)\(exception)"
  }
}
