import FerryJournal
import FerryManifest
import FerryPlan
import Foundation
import Testing

@testable import FerryEngine

/// The manifests are in `real`, to which `link` leads. The list of the batch `photos` names files in `real/dl`.
@Suite struct `The list of a download batch in a run` {
  private let folder: TestFolder

  init() throws {
    folder = try TestFolder()
    for name in ["real/sub", "real/dl/v1"] {
      try FileManager.default.createDirectory(
        atPath: "\(folder.path)/\(name)", withIntermediateDirectories: true)
    }
    folder.link("link", to: "real")
    folder.link("real/folder", to: "dl")
    folder.link("real/absolute", to: "\(folder.path)/link/dl/list")
    folder.link("real/relative", to: "folder/../dl/latest")
    folder.link("real/dl/latest", to: "list")
    folder.link("real/dl/current", to: "v1")
    folder.link("real/loop", to: "loop")
  }

  private func job(_ nodes: String, name: String = "m", in place: String = "real") throws -> Job {
    try "version: 1\nname: \(name)\nsessions: { s: {} }\n\(nodes)\n"
      .write(toFile: "\(folder.path)/real/\(name).yaml", atomically: true, encoding: .utf8)
    let path = "\(folder.path)/\(place)/\(name).yaml"
    let reading = try Job.read(path: path, variables: [:], environment: [:])
    return try #require(reading.job, "\(reading.diagnostics)")
  }

  private static let batch = """
    downloads:
      photos: { session: s, items: { file: urls, save_to: "./dl//${item.name}" } }

    """

  private static func upload(_ list: String) -> String {
    """
    uploads:
      u:
        session: s
        files: { root: ., list: "\(list)" }
        transfer: { request: { url: "https://a.example/${file.path}" } }

    """
  }

  /// The listers of all nodes, by name.
  private func listers(_ jobs: Job...) throws -> [String: FileLister] {
    let jobs = try Jobs(jobs)
    let listers = try jobs.listers(
      environment: ["HOME": folder.path + "/real"],
      state: StateDirectory(explicit: folder.path + "/state", environment: [:]))
    return Dictionary(uniqueKeysWithValues: listers.map { (jobs.plan.nodes[$0].name, $1) })
  }

  /// Which of the files below `dl` the list of `photos` cannot name.
  private func refused(_ names: [String], _ listers: [String: FileLister]) throws -> [String] {
    let reserved = try #require(listers["photos"]).reserved
    return names.filter { reserved.refusal(of: ItemListReader.key("dl/\($0)".utf8)) != nil }
  }

  @Test(arguments: [
    "dl/list", "./dl/list", "dl/./list", "dl//list", "sub/../dl/list", "missing/../dl/list",
    "../real/dl/list",
    "../link/dl/list", "folder/list", "folder/../dl/list", "absolute", "relative", "~/dl/list", "DL/List",
    "{}/real/dl/list", "{}//real/dl/./list", "{}/link/sub/../dl/list",
  ])
  func `cannot replace a list of files, however the path of that list is written`(_ path: String) throws {
    let list = path.replacing("{}", with: folder.path)
    for place in ["real", "link"] {
      let found = try listers(job(Self.batch + Self.upload(list), in: place))
      #expect(try refused(["list", "List", "list/a", "other", "lis"], found) == ["list", "List", "list/a"])
      #expect(found["u"]?.listAuthor == .server)
    }
  }

  @Test func `cannot replace a link through which a path leads`() throws {
    let names = ["latest", "current", "current/list", "v1", "v1/list", "v1/other", "list"]
    let found = try listers(
      job(Self.batch + Self.upload("relative")),
      job(Self.upload("dl/current/list").replacing("u:", with: "w:"), name: "n", in: "link"))
    #expect(try refused(names, found) == names.filter { $0 != "v1/other" })
  }

  @Test func `can have any name if a path is elsewhere, or a loop of links`() throws {
    for path in ["elsewhere/dl/list", "../dl/list", "/dl/list", "loop", "loop/list"] {
      let found = try listers(job(Self.batch + Self.upload(path)))
      #expect(try refused(["list", "other"], found) == [])
      #expect(found["u"]?.listAuthor == .user)
    }
  }

  @Test func `cannot replace the document of a fetch, and the fetch is the one that stores a list`() throws {
    let fetches = """
      fetches:
        f: { session: s, request: { url: "https://a.example/" }, save_to: "folder//.//list" }
        other: { session: s, request: { url: "https://a.example/" }, save_to: list }

      """
    let found = try listers(
      job(fetches + Self.batch), job(Self.upload("dl/list"), name: "n", in: "link"))
    #expect(try refused(["list", "other"], found) == ["list"])
    #expect(found["u"]?.listAuthor == .server)
    #expect(found["u"]?.listFetches == [.init(manifest: "m", fetch: "f")])
    #expect(found["photos"]?.listFetches == [])
  }

  @Test func `cannot replace an item that a manifest lists, or determine a list that is such an item`() throws
  {
    let written = """
        tools:
          session: s
          items:
            - { url: "https://a.example/1", save_to: dl/tool.sh }
            - { url: "https://a.example/2", save_to: "dl//v1/./x" }
        urls: { session: s, items: { urls: ["https://a.example/a%20b"], save_to: "dl/${item.name}" } }

      """
    let found = try listers(job(Self.batch + written + Self.upload("dl/../dl/tool.sh")))
    #expect(
      try refused(["tool.sh", "TOOL.sh", "v1", "v1/x", "v1/y", "a b", "a"], found)
        == ["tool.sh", "TOOL.sh", "v1", "v1/x", "a b"])
    #expect(found["u"]?.listAuthor == .server)
    // The manifest itself determines these names.
    #expect(try #require(found["tools"]).reserved.refusal(of: "dl/tool.sh") == nil)
  }

  /// A list that replaced such a file could run a program of its server in the next run.
  @Test func `cannot replace a file that the run reads`() throws {
    for name in ["included.yaml", "body", "part", "key", "script", "other"] {
      try "{}".write(toFile: "\(folder.path)/real/dl/\(name)", atomically: true, encoding: .utf8)
    }
    let nodes = """
      include: [dl/included.yaml]
      secrets: { key: { file: "folder/key" } }
      requests:
        a: { session: s, request: { method: PUT, url: "https://a.example/", body: { file: dl//body } } }
        b:
          session: s
          request: { method: POST, url: "https://a.example/", multipart: { file: { path: dl/part } } }

      """
    let job = try job(nodes + Self.batch)
    let other = try self.job(Self.upload("elsewhere"), name: "n")
    try FileManager.default.moveItem(
      atPath: "\(folder.path)/real/n.yaml", toPath: "\(folder.path)/real/dl/n.yaml")
    var second = other
    second.sources = other.sources.map { SourceText($0.bytes, file: "\(folder.path)/link/dl/n.yaml") }
    let found = try listers(job, second)
    let names = ["included.yaml", "body", "part", "key", "n.yaml", "other"]
    #expect(try refused(names, found) == names.dropLast())
  }

  @Test func `cannot replace the program that a run starts when its window ends`() throws {
    try "".write(toFile: "\(folder.path)/real/dl/argument", atomically: true, encoding: .utf8)
    try "".write(toFile: "\(folder.path)/real/dl/settings", atomically: true, encoding: .utf8)
    let command = "[dl/expiry, dl/argument, --config=dl/settings, dl, dl/missing, --log=dl/out.log]"
    let found = try listers(
      job("execution_window: { background: 5s, on_expiry: \(command) }\n" + Self.batch))
    let names = ["expiry", "argument", "argument/a", "settings", "missing", "out.log", "missing/a", "other"]
    #expect(try refused(names, found) == names.dropLast(2))
  }

  @Test func `cannot replace a program that is found in PATH, or a ticket in a collection`() throws {
    let tool = "\(folder.path)/real/dl/notify"
    try "".write(toFile: tool, atomically: true, encoding: .utf8)
    #expect(chmod(tool, 0o755) == 0)
    let command = "execution_window: { background: 5s, on_expiry: [notify] }\n"
    let jobs = Jobs(try job(command + Self.batch))
    let listers = try jobs.listers(
      environment: [
        "PATH": "/usr/bin:\(folder.path)/link/dl", "KRB5CCNAME": "DIR::\(folder.path)/real/dl/cache/tkt",
      ], state: StateDirectory(explicit: folder.path + "/state", environment: [:]))
    let found = Dictionary(uniqueKeysWithValues: listers.map { (jobs.plan.nodes[$0].name, $1) })
    let names = ["notify", "cache/tkt", "cache/primary", "other"]
    #expect(try refused(names, found) == names.dropLast())
  }

  @Test func `cannot replace a file that the command line names`() throws {
    let jobs = Jobs(try job(Self.batch))
    let listers = try jobs.listers(
      environment: [:], state: StateDirectory(explicit: folder.path + "/state", environment: [:]),
      files: ["\(folder.path)/link/dl/plan.json"])
    let found = Dictionary(uniqueKeysWithValues: listers.map { (jobs.plan.nodes[$0].name, $1) })
    #expect(try refused(["plan.json", "other"], found) == ["plan.json"])
  }

  @Test func `cannot replace files and folders that determine how ferry connects and signs`() throws {
    let job = try job(
      """
      downloads:
        photos:
          session: s
          items: { file: urls, save_to: "./dl//${item.name}" }
          auth: { netrc: dl/netrc }

      """)
    var changed = job
    changed.manifest.sessions[0].connection.tls.caPath = "dl/authorities"
    changed.manifest.sessions[0].connection.unixSocket = "dl/socket"
    let jobs = try Jobs([changed])
    let dl = folder.path + "/real/dl"
    let environment = [
      "HOME": dl, "AWS_CONFIG_FILE": "\(dl)/aws", "SSL_CERT_FILE": "\(dl)/bundle",
      "SSL_CERT_DIR": "/etc/ssl/certs:\(dl)/certificates", "KRB5_CONFIG": "/etc/krb5.conf:\(dl)/krb5.conf",
      "KRB5CCNAME": "FILE:\(dl)/tickets", "OPENSSL_CONF": "\(dl)/openssl", "KRB5_CLIENT_KTNAME": "\(dl)/keys",
    ]
    folder.link("real/dl/state", to: "../elsewhere")
    let state = try StateDirectory(explicit: dl + "/state", environment: [:])
    let listers = try jobs.listers(environment: environment, state: state)
    let found = Dictionary(uniqueKeysWithValues: listers.map { (jobs.plan.nodes[$0].name, $1) })
    let names = [
      "netrc", "authorities", "authorities/0.0", "socket", "aws", "bundle", "certificates/0.0",
      ".aws/credentials", "krb5.conf", "tickets", "keys", "openssl", "state", "other",
    ]
    #expect(try refused(names, found) == names.dropLast())
  }

  @Test func `cannot replace a link through which a root leads, but files in the root`() throws {
    folder.link("real/dl/outbox", to: "v1")
    let upload = Self.upload("elsewhere").replacing("root: .", with: "root: dl/outbox/")
    let names = ["outbox", "outbox/a", "v1/a"]
    #expect(try refused(names, listers(job(Self.batch + upload))) == ["outbox", "outbox/a"])
  }
}
