import Foundation
import Testing

/// The permissions of the folders that `after: { move_to: … }` creates.
@Suite struct `A folder that a move creates` {
  @Test func `is at most as open as its counterpart`() async throws {
    let receiver = try await ReceiverProcess.start()
    let job = try Workspace(
      JobText.text(server: receiver.url, JobText.puts + "\n    after: { move_to: sent/ }"))
    let folders = ["private": 0o700, "private/deep": 0o750, "open": 0o755]
    for folder in folders.keys { try job.folder.write(Data("x".utf8), to: "files/\(folder)/f.txt") }
    for (folder, mode) in folders { chmod(job.folder.path("files/\(folder)"), mode_t(mode)) }
    let (command, _) = try await job.run()
    #expect(command.status == 0, "\(command.stdout)\(command.stderr)")
    for (folder, mode) in folders {
      var status = stat()
      #expect(stat(job.folder.path("files/sent/\(folder)/f.txt"), &status) == 0)
      #expect(stat(job.folder.path("files/sent/\(folder)"), &status) == 0)
      #expect(status.st_mode & 0o777 == mode_t(mode), "\(folder)")
    }
  }
}
