import Foundation
import Testing

/// `after: { move_to: … }` if the kernel, the file system or a container's filter does not support openat2(2), or
/// renameat2(2) with RENAME_NOREPLACE.
@Suite(
  .enabled("a C compiler and seccomp(2) are needed: scripts/setup test") { try await OldKernel.isThere() }
) struct `A delivered file on an old kernel` {
  private static let answers = [
    ["renameat2=ENOSYS", "openat2=ENOSYS"], ["renameat2=EINVAL", "openat2=EPERM"],
  ]

  private func job(_ receiver: ReceiverProcess) throws -> Workspace {
    try Workspace(
      JobText.text(server: receiver.url, JobText.puts + "\n    after: { move_to: sent/away/ }"))
  }

  private func exists(_ job: Workspace, _ name: String) -> Bool {
    FileManager.default.fileExists(atPath: job.folder.path("files/\(name)"))
  }

  @Test(arguments: answers)
  func `is moved with its folders, and overwrites nothing`(_ answers: [String]) async throws {
    let receiver = try await ReceiverProcess.start()
    let job = try job(receiver)
    for name in ["a.txt", "sub/er/b.txt"] { try job.folder.write(Data(name.utf8), to: "files/\(name)") }
    try job.folder.write(Data("taken".utf8), to: "files/sent/away/a.txt")
    let command = try await OldKernel.run(job, without: answers)
    #expect(command.status == 5, "\(command.stderr)")
    #expect(try job.report().node("files")?.after?.problems.map(\.code) == ["after_exists"])
    #expect(job.folder.text("files/sent/away/a.txt") == "taken" && job.folder.text("files/a.txt") == "a.txt")
    #expect(job.folder.text("files/sent/away/sub/er/b.txt") == "sub/er/b.txt")
    #expect(!exists(job, "sub/er/b.txt"))
    try FileManager.default.removeItem(atPath: job.folder.path("files/sent/away/a.txt"))
    #expect(try await OldKernel.run(job, without: answers).status == 0)
    #expect(job.folder.text("files/sent/away/a.txt") == "a.txt" && !exists(job, "a.txt"))
    #expect(try await receiver.received().puts == ["a.txt": 1, "sub/er/b.txt": 1])
  }

  /// The kernel may be upgraded before the next run.
  @Test(arguments: [true, false])
  func `has two names after a kill between the two steps, and then one`(_ isUpgraded: Bool) async throws {
    let receiver = try await ReceiverProcess.start()
    let job = try job(receiver)
    try job.write("one", to: "a.txt")
    let killed = try await OldKernel.run(job, without: Self.answers[0] + ["unlinkat=KILL"])
    #expect(killed.status == 128 + SIGSYS, "\(killed.stderr)")
    #expect(job.folder.text("files/a.txt") == "one" && job.folder.text("files/sent/away/a.txt") == "one")
    let explained = try await job.ferry("explain", "a.txt", "--manifest", "job.yaml").stdout
    #expect(
      explained.contains("after: move_to sent/away/ is pending: no run has attempted it since the delivery"),
      "\(explained)")
    let next = try await OldKernel.run(job, without: isUpgraded ? ["openat2=ENOSYS"] : Self.answers[0])
    #expect(next.status == 0, "\(next.stderr)")
    #expect(try job.report().node("files")?.after?.moved == 1)
    #expect(!exists(job, "a.txt") && job.folder.text("files/sent/away/a.txt") == "one")
    #expect(try await receiver.received().puts == ["a.txt": 1])
  }

  @Test(arguments: answers)
  func `is not moved through a link that leaves the root`(_ answers: [String]) async throws {
    let receiver = try await ReceiverProcess.start()
    let job = try job(receiver)
    try job.write("one", to: "a.txt")
    _ = try job.folder.makeFolder("outside")
    #expect(symlink("../outside", job.folder.path("files/sent")) == 0)
    let command = try await OldKernel.run(job, without: answers)
    #expect(command.status == 5, "\(command.stderr)")
    #expect(try job.report().node("files")?.after?.problems.map(\.code) == ["after_folder"])
    #expect(job.folder.text("files/a.txt") == "one")
    #expect(try FileManager.default.contentsOfDirectory(atPath: job.folder.path("outside")) == [])
  }

  /// The file still exists behind the link, so it is not reported as missing.
  @Test(arguments: answers)
  func `keeps its move pending behind a linked folder, which is not followed`(_ answers: [String])
    async throws
  {
    let receiver = try await ReceiverProcess.start()
    let list = JobText.puts.replacing("{ root: files }", with: "{ root: files, list: names }")
    let job = try Workspace(JobText.text(server: receiver.url, list + "\n    after: delete"))
    try job.folder.write(Data("one".utf8), to: "files/real/a.txt")
    try job.folder.write(Data("link/a.txt\n".utf8), to: "names")
    #expect(symlink("real", job.folder.path("files/link")) == 0)
    let command = try await OldKernel.run(job, without: answers)
    #expect(command.status == 5, "\(command.stderr)")
    #expect(try job.report().node("files")?.after?.problems.map(\.code) == ["after_folder"])
    #expect(exists(job, "real/a.txt"))
    #expect(try await receiver.received().puts == ["link/a.txt": 1])
  }
}
