import Foundation
import Testing

/// libfaketime, which people use to test with another time. An environment variable that is set before the program
/// starts shifts the clocks and the times of files.
@Suite(.enabled("libfaketime is needed: scripts/setup test") { Faketime.library != nil })
struct `Under libfaketime` {
  /// The test preloads the library directly. The program `faketime` would set the same variable.
  private func environment(_ time: String) -> [String: String] {
    ["LD_PRELOAD": Faketime.library ?? "", "FAKETIME": time]
  }

  private func ferry(_ job: Workspace, _ time: String, _ words: String...) async throws -> Command {
    try await job.start(words, environment: environment(time)).end()
  }

  @Test(arguments: ["+30d", "-400d", "+0 x100", "@2020-01-01 00:00:00"])
  func `ferry has its arguments, and a run sends everything once`(_ time: String) async throws {
    let receiver = try await ReceiverProcess.start()
    let job = try Workspace(JobText.text(server: receiver.url, JobText.puts))
    for index in 0..<5 { try job.write("file \(index)", to: "\(index).txt") }
    let version = try await ferry(job, time, "--version")
    #expect(version.status == 0 && version.stdout.hasPrefix("ferry "), "\(version.stdout)\(version.stderr)")
    #expect(try await ferry(job, time, "check", "nowhere.yaml").status == 2)
    let run = try await ferry(job, time, "run", "job.yaml", "--report", "a name with spaces")
    #expect(run.status == 0, "\(run.stdout)\(run.stderr)")
    #expect(FileManager.default.fileExists(atPath: job.folder.path("a name with spaces")))
    #expect(try await receiver.received().puts.values.allSatisfy { $0 == 1 })
    #expect(try await receiver.received().puts.count == 5)
  }

  /// The number of nanoseconds since 1970 exceeds 64 bits on 2262-04-11. The library also shifts the monotonic clock,
  /// which overflows in the same way.
  @Test(arguments: ["@2262-04-13 00:00:00", "+400y", "@9999-12-31 23:59:59"])
  func `a run beyond the clock's range ends without a crash`(_ time: String) async throws {
    let receiver = try await ReceiverProcess.start()
    let job = try Workspace(JobText.text(server: receiver.url, JobText.puts))
    try job.write("file", to: "a.txt")
    let run = try await ferry(job, time, "run", "job.yaml")
    #expect([0, 2, 70].contains(run.status), "\(run.status): \(run.stdout)\(run.stderr)")
    #expect(try await receiver.received().puts["a.txt"] ?? 0 <= 1)
  }

  @Test func `the receiver has its arguments`() async throws {
    let end = try await Command.run(
      Product.path("ferry-receiver"), ["--nonsense"], environment: environment("+30d"))
    #expect(end.status == 2, "\(end.stdout)\(end.stderr)")
  }
}

private enum Faketime {
  /// The library's path on Debian; `nil` if it is not installed. In that case, a message is printed, because an
  /// unnoticed skip would look like a pass.
  static let library: String? = {
    let folders = (try? FileManager.default.contentsOfDirectory(atPath: "/usr/lib")) ?? []
    let paths = (["."] + folders.sorted()).map { "/usr/lib/\($0)/faketime/libfaketime.so.1" }
    if let path = paths.first(where: FileManager.default.fileExists(atPath:)) { return path }
    FileHandle.standardError.write(
      Data("\n!!!! SKIPPED: the tests under libfaketime need faketime: scripts/setup test\n\n".utf8))
    return nil
  }()
}
