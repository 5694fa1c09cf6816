import Foundation

/// Runs a manifest of `examples/`, whose files and state are in a temporary folder.
final class ExampleRun: Sendable {
  let folder: TemporaryFolder
  private let manifest: String
  private let environment: [String: String]

  /// - Parameters:
  ///   - name: the file name of the manifest without its extension.
  ///   - files: the sizes of the files, by name.
  ///   - root: the environment variable that names the folder of the files.
  ///   - environment: further variables, which redirect the manifest to the test's server.
  init(_ name: String, files: [String: Int], root: String, environment: [String: String]) throws {
    folder = try TemporaryFolder()
    manifest = Product.source("examples/\(name).yaml")
    self.environment = environment.merging([root: folder.path("files")]) { $1 }
    var random = SplitMix(seed: 77)
    for (name, size) in files.sorted(by: { $0.key < $1.key }) {
      try folder.write(random.bytes(size), to: "files/\(name)")
    }
  }

  func start(_ arguments: [String]) throws -> RunningCommand {
    try RunningCommand(
      Product.path("ferry"), arguments,
      environment: environment.merging(["FERRY_STATE": folder.path("state")]) { $1 }, in: folder.url)
  }

  func run() async throws -> (command: Command, report: RunReport) {
    let command = try await start(["run", manifest, "--report", "report.json"]).end()
    do {
      let report = try Data(contentsOf: URL(filePath: folder.path("report.json")))
      return (command, try RunReport.decode(report))
    } catch {
      throw CommandFailure(description: "\(error)\n\(command.stdout)\n\(command.stderr)")
    }
  }

  /// Runs `ferry COMMAND … MANIFEST`.
  func ferry(_ arguments: String...) async throws -> Command {
    try await start(arguments + [manifest]).end()
  }

  /// Starts a run, waits, and then kills the run.
  func runAndKill(after wait: () async throws -> Void) async throws {
    let run = try start(["run", manifest, "--quiet"])
    do {
      try await wait()
    } catch {
      run.signal(SIGKILL)
      let end = await run.end()
      throw CommandFailure(description: "\(error)\n\(end.stdout)\(end.stderr)")
    }
    run.signal(SIGKILL)
    _ = await run.end()
  }

  /// The digests of the files, by name.
  func digests(of names: [String]) async throws -> [String: String] {
    try await TestFiles.digests(of: names, under: folder.path("files"))
  }
}
