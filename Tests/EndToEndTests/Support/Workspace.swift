import Foundation

/// A manifest with a folder of files and a state folder. Its methods run ferry with them.
final class Workspace: Sendable {
  /// A secret whose characters change when it is percent-encoded, and whose Base64 form does not occur by chance.
  static let secret = "geheim/+=&% ä-7c1f5e0d9b"

  let folder: TemporaryFolder

  /// Variables of this machine that would change how ferry connects.
  private static let neutral = Dictionary(
    uniqueKeysWithValues: ["CURL_CA_BUNDLE", "SSL_CERT_FILE", "SSL_CERT_DIR"].map { ($0, "") })

  /// - Parameter manifest: the text of `job.yaml`.
  init(_ manifest: String) throws {
    folder = try TemporaryFolder()
    _ = try folder.makeFolder("files")
    try write(manifest: manifest)
  }

  var state: String { folder.path("state") }

  func write(manifest: String) throws { try folder.write(Data(manifest.utf8), to: "job.yaml") }

  func write(_ text: String, to name: String) throws {
    try folder.write(Data(text.utf8), to: "files/\(name)")
  }

  /// Starts `ferry COMMAND …` with this state folder, in this folder.
  ///
  /// - Parameter program: the program to start, if ferry is not started directly.
  func start(
    _ arguments: [String], program: String = Product.path("ferry"), environment: [String: String] = [:],
    in place: URL? = nil, input: Pipe? = nil
  ) throws -> RunningCommand {
    try RunningCommand(
      program, arguments,
      environment: Self.neutral.merging(["FERRY_STATE": state, "E2E_SECRET": Self.secret]) { $1 }
        .merging(environment) { $1 },
      in: place ?? folder.url, input: input)
  }

  func ferry(
    _ arguments: String..., environment: [String: String] = [:], in place: URL? = nil
  ) async throws -> Command {
    try await start(arguments, environment: environment, in: place).end()
  }

  /// Runs the manifest to its end, and also returns the report.
  func run(_ options: String...) async throws -> (command: Command, report: RunReport) {
    try await run(options)
  }

  func run(_ options: [String]) async throws -> (command: Command, report: RunReport) {
    let command = try await start(["run", "job.yaml", "--report", "report.json"] + options).end()
    do {
      return (command, try report())
    } catch {
      throw CommandFailure(description: "\(error)\n\(command.status)\n\(command.stdout)\n\(command.stderr)")
    }
  }

  func report() throws -> RunReport {
    try RunReport.decode(try Data(contentsOf: URL(filePath: folder.path("report.json"))))
  }

  func journal(ofSession identifier: String) -> String { state + "/sessions/\(identifier).db" }

  /// Overwrites a part of a session's journal. The journal must not be open in any process. SQLite has then
  /// moved its log into the database file.
  func damage(journalOf identifier: String, bytes: Range<Int> = 4096..<12_288) throws {
    let path = journal(ofSession: identifier)
    var content = try Data(contentsOf: URL(filePath: path))
    for index in bytes where index < content.count { content[index] = 0xa5 }
    try content.write(to: URL(filePath: path))
    chmod(path, 0o600)
  }

  /// The content of every file in the state folder, by its relative path.
  func stateFiles() throws -> [String: Data] {
    var files: [String: Data] = [:]
    for name in FileManager.default.subpaths(atPath: state) ?? [] {
      let url = URL(filePath: state).appending(path: name)
      do {
        guard try url.resourceValues(forKeys: [.isRegularFileKey]).isRegularFile == true else { continue }
        files[name] = try Data(contentsOf: url)
      } catch let error as CocoaError where error.code == .fileReadNoSuchFile {
        // A running process has removed the file in the meantime.
        continue
      }
    }
    return files
  }
}
