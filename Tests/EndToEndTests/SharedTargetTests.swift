import Foundation
import Testing

/// Folders of downloads in which another user or a server can create files.
@Suite struct `A folder in which a download batch stores files` {
  /// The rule is that for storing a file: in a world-writable folder, an entry of another user is not used.
  @Test(
    .enabled("only root may give files away", { geteuid() == 0 }),
    arguments: [("sub/a", "file"), ("sub/a", "folder"), ("sub/a", "link"), ("b", "file")])
  func `has no file of another user that counts as downloaded`(_ name: String, _ kind: String) async throws {
    let server = try await ScriptedServer.start([
      "/files/sub/a": .init(status: 200, body: "one"), "/files/b": .init(status: 200, body: "two"),
    ])
    let job = try Workspace(
      """
      version: 1
      name: gallery
      sessions: { quick: {} }
      downloads:
        photos:
          session: quick
          items:
            - { url: "\(server.home)/files/sub/a", save_to: photos/sub/a, size: 3B }
            - { url: "\(server.home)/files/b", save_to: photos/b, size: 3B }
          retry: { limit: 0 }

      """)
    #expect(try await job.run().command.status == 0)
    for folder in ["photos", "photos/sub"] { #expect(chmod(job.folder.path(folder), 0o1777) == 0) }
    let (_, second) = try await job.run()
    #expect(second.totals.items.unchanged == 2)
    switch kind {
    case "file": #expect(chown(job.folder.path("photos/\(name)"), 65534, 65534) == 0)
    case "folder": #expect(chown(job.folder.path("photos/sub"), 65534, 65534) == 0)
    default:
      #expect(rename(job.folder.path("photos/sub"), job.folder.path("other")) == 0)
      #expect(symlink("../other", job.folder.path("photos/sub")) == 0)
    }
    let (command, report) = try await job.run()
    #expect(command.status == 1, "\(command.stdout)\(command.stderr)")
    #expect(report.totals.items.unchanged == 1)
    let reason = report.item("photos/\(name)")?.reason
    #expect(reason?.code == "destination", "\(String(describing: reason))")
  }

  /// A server can name a file like the one that marks the state of a shard.
  @Test func `fails only the uploads below it if it has a file that marks the state of a shard`() async throws
  {
    let receiver = try await ReceiverProcess.start()
    let job = try Workspace(
      """
      version: 1
      name: mirrors
      sessions: { quick: {} }
      uploads:
        new:
          session: quick
          files: { root: mirror/new }
          transfer: { request: { url: "\(receiver.url)/files/${file.path}" } }
        out:
          session: quick
          files: { root: out }
          transfer: { request: { url: "\(receiver.url)/files/${file.path}" } }

      """)
    try job.folder.write(Data("n".utf8), to: "mirror/new/n")
    try job.folder.write(Data("o".utf8), to: "out/o")
    try job.folder.write(Data("ferry shard 1\nx\n".utf8), to: "mirror/shard")
    let (command, report) = try await job.run()
    #expect(command.status == 1, "\(command.stdout)\(command.stderr)")
    #expect(report.totals.items.done == 1 && report.node("out")?.state == "succeeded")
    #expect(report.node("new")?.state == "failed")
    let problem = report.node("new")?.problems?.first
    #expect(problem?.message.contains("/mirror, which contains ferry's file 'shard' or 'count'") == true)
    try FileManager.default.removeItem(atPath: job.folder.path("mirror/shard"))
    #expect(try await job.run().command.status == 0)
  }
}
