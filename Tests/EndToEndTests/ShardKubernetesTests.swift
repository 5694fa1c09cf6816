import Foundation
import Testing

/// The objects of `ferry shard --engine kubernetes`. They are validated against the schemas that Kubernetes publishes, and
/// the commands of their pods are run on this machine.
@Suite struct `The objects for Kubernetes` {
  private static let files = 30

  /// The Python that has the schemas of Kubernetes.
  private static let python: String? = {
    if let python = PythonModules.python(with: ["kubernetes_validate", "yaml"]) { return python }
    FileHandle.standardError.write(
      Data("\n!!!! SKIPPED: the tests of Kubernetes need the Python package kubernetes-validate\n\n".utf8))
    return nil
  }()

  private static let engine = """
    engine:
      kubernetes:
        image: registry.example.com/ferry:1
        secret: e2e
        resources: { cpu: 500m, memory: 256MiB }
        storage: { size: 2GiB, class: nfs, files: { claim: files, path: files } }

    """

  private func job(
    _ receiver: ReceiverProcess, engine: String = Self.engine, name: String = "e2e"
  ) throws -> Workspace {
    let notes = """
      requests:
        before: { session: quick, token: login, request: { url: "${vars.api}/done", json: { node: before } } }
        after:
          session: quick
          token: login
          needs: [files]
          request: { url: "${vars.api}/done", json: { node: after } }
      """
    let job = try Workspace(
      JobText.text(server: receiver.url, name: name, connections: 2, JobText.uploadIDs(), notes, engine))
    for number in 0..<Self.files { try job.write("content \(number) 😀", to: "f\(number).txt") }
    return job
  }

  private func shard(_ job: Workspace, state: String? = nil, _ more: String...) async throws -> Command {
    try await job.start(
      [
        "shard", "job.yaml", "--shards", "3", "--engine", "kubernetes", "--state", state ?? job.state,
        "--program", Product.path("ferry"),
      ] + more
    ).end()
  }

  /// The environment in which `kubectl` is the program that runs pods on this machine.
  private func environment(_ job: Workspace) throws -> [String: String] {
    let python = URL(filePath: try #require(Self.python)).deletingLastPathComponent().path(
      percentEncoded: false)
    let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
    return [
      "PATH": "\(Product.source("Tests/EndToEndTests/Kubernetes")):\(python):\(path)",
      "KUBECTL_FOLDER": job.folder.url.path(percentEncoded: false),
      "KUBECTL_SECRET": "E2E_SECRET=\(Workspace.secret)", "E2E_SECRET": "",
    ]
  }

  private func pods(_ job: Workspace) -> [String] {
    job.folder.text("kubectl.log").split(separator: "\n").map(String.init).filter { $0.hasPrefix("pod") }
  }

  @Test(.enabled(if: python != nil), arguments: ["e2e", "My_Photos.2026-"])
  func `are valid, and the commands of their pods commit each file once`(_ name: String) async throws {
    let receiver = try await ReceiverProcess.start(["--require-token"])
    let job = try job(receiver, name: name)
    let written = try await shard(job)
    #expect(written.status == 0, "\(written.stderr)")
    let environment = try environment(job)
    let submitted = try await Command.run(
      "bash", [job.folder.path("shards/submit.sh")], environment: environment, in: job.folder.url)
    #expect(submitted.status == 0, "\(submitted.stdout) \(submitted.stderr)")
    // The log of the last job contains the merged report.
    #expect(submitted.stdout.contains("\(Self.files) done"), "\(submitted.stdout)")
    let received = try await receiver.received()
    #expect(received.commits == Self.files && received.uploads.allSatisfy { $0.commits == 1 })
    #expect(received.done.map(\.node) == ["before", "after"])
    #expect(pods(job).count == 5, "\(job.folder.text("kubectl.log"))")
    let map = try JSONDecoder().decode(
      [String: String].self, from: Data(contentsOf: job.folder.url.appending(path: "map.json")))
    #expect(map == ["source-0": job.folder.text("job.yaml")])
    // When the script is started again, it finds the jobs and runs nothing.
    let again = try await Command.run(
      "bash", [job.folder.path("shards/submit.sh"), "--namespace=test"], environment: environment,
      in: job.folder.url)
    #expect(again.status == 0 && pods(job).count == 5, "\(again.stderr)")
  }

  /// Kubernetes replaces `$(NAME)` with an environment variable of the pod, and `$$` with `$`.
  @Test(.enabled(if: python != nil))
  func `have commands whose words Kubernetes does not change`() async throws {
    let receiver = try await ReceiverProcess.start(["--require-token"])
    let job = try job(receiver)
    let folder = "$(E2E_SECRET)$$ a"
    _ = try job.folder.makeFolder(folder)
    let written = try await shard(job, state: job.folder.path("\(folder)/state"))
    #expect(written.status == 0, "\(written.stderr)")
    let submitted = try await Command.run(
      "bash", [job.folder.path("shards/submit.sh")], environment: try environment(job), in: job.folder.url)
    #expect(submitted.status == 0, "\(submitted.stdout) \(submitted.stderr)")
    #expect(FileManager.default.fileExists(atPath: job.folder.path("\(folder)/state/shards/e2e")))
  }

  @Test(.enabled(if: python != nil))
  func `are submitted with --submit, and a pod with temporary failures is repeated`() async throws {
    // Because there is one more failure than there are files, one file fails in both of its attempts, in any order.
    let receiver = try await ReceiverProcess.start(
      ["--require-token"], faults: ["content:status=503,times=\(Self.files + 1)"])
    let job = try job(receiver)
    let text = job.folder.text("job.yaml").replacing(
      JobText.retry, with: "retry: { limit: 1, initial: 10ms }")
    try job.write(manifest: text)
    let submitted = try await job.start(
      [
        "shard", "job.yaml", "--shards", "3", "--engine", "kubernetes", "--state", job.state, "--program",
        Product.path("ferry"), "--submit",
      ], environment: try environment(job)
    ).end()
    #expect(submitted.status == 0, "\(submitted.stdout) \(submitted.stderr)")
    #expect(pods(job).contains { $0.hasSuffix("exited with 5") }, "\(pods(job))")
    let received = try await receiver.received()
    #expect(received.commits == Self.files && received.uploads.allSatisfy { $0.commits == 1 })
  }

  @Test(.enabled(if: python != nil), .timeLimit(.minutes(2)))
  func `are no longer waited for if a job is deleted, and the message says so`() async throws {
    let receiver = try await ReceiverProcess.start(["--require-token"])
    let job = try job(receiver)
    var environment = try environment(job)
    environment["KUBECTL_DELETED"] = "ferry-e2e"
    let submitted = try await job.start(
      [
        "shard", "job.yaml", "--shards", "2", "--engine", "kubernetes", "--state", job.state, "--program",
        Product.path("ferry"), "--submit",
      ], environment: environment
    ).end()
    #expect(submitted.status == 5)
    #expect(submitted.stderr.contains("job ferry-e2e was deleted"), "\(submitted.stderr)")
    #expect(!pods(job).contains { $0.contains("finish") }, "\(pods(job))")
  }

  @Test func `are not submitted without kubectl, and the message says so`() async throws {
    let receiver = try await ReceiverProcess.start(["--require-token"])
    let job = try job(receiver)
    let folder = try TemporaryFolder()
    for name in ["bash", "dirname"] {
      try FileManager.default.createSymbolicLink(
        atPath: folder.path(name), withDestinationPath: try #require(RunningCommand.find(name)))
    }
    for (engine, program) in [("kubernetes", "kubectl"), ("slurm", "sbatch"), ("parallel", "GNU parallel")] {
      let command = try await job.start(
        ["shard", "job.yaml", "--shards", "3", "--engine", engine, "--submit"],
        environment: ["PATH": folder.url.path(percentEncoded: false)]
      ).end()
      #expect(command.status == 2, "\(engine): \(command.stderr)")
      #expect(command.stderr.contains("\(program) was not found in PATH"), "\(command.stderr)")
    }
  }

  @Test(arguments: [
    ("    image: registry.example.com/ferry:1\n", "", "does not name the container image"),
    ("    secret: e2e\n", "", "would not have the environment variable of secret 'client_secret'"),
    ("path: files", "path: other", "the 'root' of upload 'files' is not in the folder"),
    ("path: files", "path: .", "contains the manifest"),
  ])
  func `are not written if the pods would lack something`(
    _ old: String, _ new: String, _ message: String
  ) async throws {
    let receiver = try await ReceiverProcess.start(["--require-token"])
    let job = try job(receiver, engine: Self.engine.replacing(old, with: new))
    let command = try await shard(job)
    #expect(command.status == 2 && command.stderr.contains(message), "\(command.stderr)")
    #expect(!FileManager.default.fileExists(atPath: job.folder.path("shards")))
  }

  @Test func `mount the claim for writing if the manifest saves files, which must be stored in it`()
    async throws
  {
    let receiver = try await ReceiverProcess.start(["--require-token"])
    func engine(_ folder: String) -> String {
      Self.engine + "downloads:\n  pictures:\n    session: quick\n"
        + "    items: { file: files/list.json, json: '', save_to: '\(folder)${item.name}' }\n"
    }
    for folder in ["pictures/", "files-2/"] {
      let refused = try await shard(try job(receiver, engine: engine(folder)))
      #expect(refused.status == 2, "\(refused.stderr)")
      #expect(refused.stderr.contains("download batch 'pictures' saves files outside"), "\(refused.stderr)")
    }
    let fetch =
      "fetches:\n  list: { session: quick, request: { url: http://127.0.0.1:9/ }, save_to: list.json }\n"
    let fetched = try await shard(try job(receiver, engine: Self.engine + fetch))
    #expect(
      fetched.status == 2 && fetched.stderr.contains("fetch 'list' saves files outside"), "\(fetched.stderr)")
    let elsewhere = engine("files/pictures/").replacing("files/list.json", with: "list.json")
    let unlisted = try await shard(try job(receiver, engine: elsewhere))
    #expect(
      unlisted.status == 2 && unlisted.stderr.contains("the list list.json is not in"), "\(unlisted.stderr)")
    let job = try job(receiver, engine: engine("files/pictures/"))
    let written = try await shard(job)
    #expect(written.status == 0, "\(written.stderr)")
    #expect(job.folder.text("shards/shards.yaml").contains("readOnly: false"))
  }

  @Test func `do not have options of sbatch or a state folder in the root`() async throws {
    let receiver = try await ReceiverProcess.start(["--require-token"])
    let job = try job(receiver)
    let option = try await shard(job, "--engine-option", "--time=1")
    #expect(option.status == 2 && option.stderr.contains("has no effect"), "\(option.stderr)")
    let root = try await shard(job, "--state", "/state")
    #expect(root.status == 2 && root.stderr.contains("cannot be '/'"), "\(root.stderr)")
  }
}
