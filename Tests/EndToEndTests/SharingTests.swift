import Foundation
import Testing

/// The shared parts of a manifest, its includes, and their effect in a run.
@Suite struct `A manifest in parts` {
  private let manifest = """
    version: 1
    name: parts
    include: [shared/common.yaml]
    uploads:
      files:
        for_each: { eu: { folder: europe }, us: { folder: america } }
        files: { root: "files/${each.value.folder}" }
        transfer: { request: { url: "${vars.api}/files/${each.key}/${file.path}" } }
    requests:
      notify: { needs: [files], request: { url: "${vars.api}/done", json: { failed: "${vars.count}" } } }
    """

  private func workspace(_ receiver: ReceiverProcess) throws -> Workspace {
    let job = try Workspace(manifest)
    _ = try job.folder.makeFolder("shared")
    let common = """
      vars:
        api: { type: url, description: the server }
        count: { type: integer, default: 5 }
      sessions: { quick: { timeout_for_request: 20s } }
      defaults: { uploads: { session: quick }, requests: { session: quick }, retry: { limit: 0 } }
      """
    try job.folder.write(Data(common.utf8), to: "shared/common.yaml")
    try job.folder.write(Data("api: \(receiver.url)\ncount: 6\n".utf8), to: "vars.yaml")
    for folder in ["europe", "america"] { _ = try job.folder.makeFolder("files/\(folder)") }
    try job.write("one", to: "europe/1.txt")
    try job.write("two", to: "america/2.txt")
    return job
  }

  @Test func `is one run, whose nodes are named after their instances`() async throws {
    let receiver = try await ReceiverProcess.start()
    let job = try workspace(receiver)
    let (command, report) = try await job.run("--vars-file", "vars.yaml", "--var", "count=7")
    #expect(command.status == 0, "\(command.stderr)")
    let received = try await receiver.received()
    #expect(Set(received.files.map(\.name)) == ["eu/1.txt", "us/2.txt"])
    #expect(received.done.map(\.failed) == [7])
    #expect(report.node("files[eu]")?.name == "files[eu]")
    #expect(report.node("files[us]")?.name == "files[us]")
  }

  @Test func `is resumed with the variables of its files, and one instance can be selected`()
    async throws
  {
    let receiver = try await ReceiverProcess.start()
    let job = try workspace(receiver)
    let first = try await job.run("--vars-file", "vars.yaml", "--only", "files[us]")
    #expect(first.command.status == 0, "\(first.command.stderr)")
    #expect(try await receiver.received().files.map(\.name) == ["us/2.txt"])
    try FileManager.default.removeItem(atPath: job.folder.path("vars.yaml"))
    let resumed = try await job.ferry("resume")
    #expect(resumed.status == 0, "\(resumed.stderr)")
    #expect(Set(try await receiver.received().files.map(\.name)) == ["eu/1.txt", "us/2.txt"])
    #expect(try await receiver.received().done.map(\.failed) == [6])
  }
}
