import ArgumentParser
import FerryProcess
import Foundation
import Receiver

/// The command line of the receiver.
@main
struct FerryReceiver: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "ferry-receiver",
    abstract: "A small HTTP server for testing manifests.",
    discussion: """
      The server listens on 127.0.0.1 and prints its URL in one line on standard output. GET /received lists \
      the received data. A fault is ROUTE:KEY=VALUE,… such as commit:every=7,status=500 or \
      content:every=5,drop=before. Routes are token, allocate, content, commit, state, abandon, file, inbox, \
      catalog, blob, done, redirect and any. Keys are match (text in the path and query), every, times, \
      status, retry_after, drop (before, after), cut (reset, close) and delay. \
      With response=NAME the receiver sends a hostile response, such as catalog:response=cut-in-body; \
      --list-faults lists all hostile responses with their settings.
      """)

  @Option(help: "Port to listen on; 0 selects a free one.")
  var port: UInt16 = 0

  @Option(help: "Folder for received bytes, created if missing. (required)", completion: .directory)
  var dir: String?

  @Option(help: "Write the port to this file once the server is ready.", completion: .file())
  var portFile: String?

  @Option(help: "Lifetime of an access token, in seconds.")
  var tokenLife = 3600.0

  @Option(help: "Lifetime of an upload ID, in seconds.")
  var uploadLife = 3600.0

  @Option(help: "The only client ID that is accepted. Default: any client ID is accepted.")
  var clientID: String?

  @Option(help: "The only client secret that is accepted. Default: any client secret is accepted.")
  var clientSecret: String?

  @Flag(help: "Respond with 401 to requests without a valid token.")
  var requireToken = false

  @Option(
    help: "A fault, as ROUTE:KEY=VALUE,… May be repeated.",
    transform: Fault.init(spec:))
  var fault: [Fault] = []

  @Flag(help: "List the hostile responses with their settings, and exit.")
  var listFaults = false

  @Option(
    help: "Append every byte that clients send, including secrets, to this file.",
    completion: .file())
  var record: String?

  @Flag(help: "Write a line for each request to standard error.")
  var verbose = false

  /// The exit code for incorrect usage, the same as in ferry. ArgumentParser's is 64.
  private static let wrongUsage: Int32 = 2

  static func main() async {
    do {
      try await parse(CommandLineArguments.find()).run()
    } catch let error as CocoaError {
      // The default description is a dump of a dictionary.
      let place = error.filePath ?? error.url?.path(percentEncoded: false)
      let message = [place, error.localizedDescription].compactMap { $0 }.joined(separator: ": ")
      FileHandle.standardError.write(Data("Error: \(message)\n".utf8))
      exit(withError: ExitCode.failure)
    } catch {
      guard exitCode(for: error) == .validationFailure else { exit(withError: error) }
      FileHandle.standardError.write(Data("\(fullMessage(for: error))\n".utf8))
      Foundation.exit(wrongUsage)
    }
  }

  func validate() throws {
    guard dir != nil || listFaults else {
      throw ValidationError("Missing expected argument '--dir <dir>'")
    }
    guard tokenLife > 0, uploadLife > 0, tokenLife.isFinite, uploadLife.isFinite else {
      throw ValidationError("A lifetime must be more than 0 seconds.")
    }
  }

  func run() async throws {
    if listFaults {
      print(FaultList.text, terminator: "")
      return
    }
    OpenFiles.allowMany()
    let signals = StopSignals()
    let server = ReceiverServer(settings)
    let port = try await server.start()
    do {
      try announce(port)
      await signals.first()
    } catch {
      await server.stop()
      throw error
    }
    await server.stop()
  }

  private func announce(_ port: UInt16) throws {
    if let portFile {
      try Data("\(port)\n".utf8).write(to: URL(filePath: portFile), options: .atomic)
    }
    FileHandle.standardOutput.write(Data("listening on http://127.0.0.1:\(port)\n".utf8))
  }

  private var settings: ReceiverConfiguration {
    var settings = ReceiverConfiguration(
      directory: URL(filePath: dir ?? "", directoryHint: .isDirectory))
    settings.port = port
    settings.tokenLife = .seconds(tokenLife)
    settings.uploadLife = .seconds(uploadLife)
    settings.clientID = clientID
    settings.clientSecret = clientSecret
    settings.requiresToken = requireToken
    settings.faults = fault
    settings.record = record.map { URL(filePath: $0) }
    if verbose {
      settings.log = { FileHandle.standardError.write(Data("\($0)\n".utf8)) }
    }
    return settings
  }
}
