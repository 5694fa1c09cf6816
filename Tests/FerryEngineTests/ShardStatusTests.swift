import FerryPlan
import Foundation
import Testing

@testable import FerryEngine
@testable import FerryJournal

/// Repeated checks of the state of shards.
@Suite struct `The status of shards` {
  private let folder: TestFolder
  private let whole: StateDirectory

  init() throws {
    folder = try TestFolder()
    whole = try StateDirectory(explicit: folder.path + "/state", environment: [:])
    try whole.create()
    for number in 1...3 { try begin("r", shard: number) }
  }

  private func state(_ number: Int) throws -> StateDirectory {
    try whole.folder(of: .shard(#require(Shard(number, of: 3))), of: "m")
  }

  private func begin(_ id: String, shard number: Int, by process: ProcessIdentity = .current) throws {
    let state = try state(number)
    try state.create(for: .shard(#require(Shard(number, of: 3))), of: "m")
    let history = try RunHistory.open(in: state, writtenBy: "test", at: TestRun.start)
    _ = try history.openRound(manifest: "m", at: TestRun.start)
    try history.begin(
      RunRow(
        id: id, launch: .background, rounds: [.init(manifest: "m", number: 1)], process: process,
        startedAt: TestRun.start))
    try history.close()
  }

  private static let now = TestRun.start.advanced(by: .seconds(60))
  private static let later = now.advanced(by: .seconds(2))

  @Test func `reads only the shards that have changed`() throws {
    var status = ShardStatus(whole.path)
    #expect(try status.document(at: Self.now).parts.map(\.state) == [.running, .running, .running])
    #expect(status.reads == 3)
    _ = try status.document(at: Self.later)
    #expect(status.reads == 6)
    _ = try status.document(at: Self.later)
    #expect(status.reads == 6)

    try end(2)
    #expect(try status.document(at: Self.later).parts.map(\.state) == [.running, .ended, .running])
    #expect(status.reads == 7)
  }

  @Test func `notices a change that leaves the time of a file, whatever the clock of the file server is`()
    throws
  {
    // The clock of the file server is an hour behind, and its times have a resolution of seconds.
    let old = TestRun.start.advanced(by: .seconds(-3600))
    for number in 1...3 { try setTimes(old, of: state(number)) }
    var status = ShardStatus(whole.path)
    #expect(try status.document(at: Self.now).parts[0].state == .running)
    try end(1)
    try setTimes(old, of: state(1))
    #expect(try status.document(at: Self.now).parts[0].state == .ended)
    // A clock that was set back does not make a version older.
    _ = try status.document(at: TestRun.start)
    #expect(status.reads == 9)
  }

  private func end(_ shard: Int) throws {
    let history = try RunHistory.open(in: state(shard), writtenBy: "test", at: Self.now)
    try history.end(run: "r", exitCode: 0, report: nil, at: Self.now)
    try history.close()
  }

  private func setTimes(_ time: Instant, of state: StateDirectory) throws {
    for name in try FileManager.default.contentsOfDirectory(atPath: state.path) {
      let seconds = Int(time.nanoseconds / 1_000_000_000)
      let times = [timespec(tv_sec: seconds, tv_nsec: 0), timespec(tv_sec: seconds, tv_nsec: 0)]
      utimensat(AT_FDCWD, state.path + "/" + name, times, 0)
    }
  }

  @Test func `notices that a process was killed, which changes no file`() throws {
    let process = try Process.run(URL(filePath: "/bin/sleep"), arguments: ["1000"])
    // The child may have inherited a mask that blocks SIGTERM.
    defer { kill(process.processIdentifier, SIGKILL) }
    let stat = try String(contentsOfFile: "/proc/\(process.processIdentifier)/stat", encoding: .utf8)
    let fields = stat[(stat.lastIndex(of: ")") ?? stat.startIndex)...].split(separator: " ")
    let identity = ProcessIdentity(
      pid: process.processIdentifier, started: try #require(Int64(fields[20])),
      boot: ProcessIdentity.current.boot)
    try begin("s", shard: 1, by: identity)
    var status = ShardStatus(whole.path)
    #expect(try status.document(at: Self.now).parts[0].state == .running)
    _ = try status.document(at: Self.later)
    #expect(status.reads == 6)
    kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
    #expect(try status.document(at: Self.later).parts[0].state == .interrupted)
    #expect(status.reads == 7)
  }

  /// A process in another container on this machine does not exist here, but holds the locks of its sessions.
  @Test func `shows a shard as running while its process in another container holds its session`() throws {
    let state = try state(1)
    guard case .acquired(let lock) = try SessionLock.try(session: "s", in: state, at: TestRun.start) else {
      throw CancellationError()
    }
    var process = ProcessIdentity.current
    // The pid in the other container is that of another process here.
    process.started += 1
    try begin("s", shard: 1, by: process)
    var status = ShardStatus(whole.path)
    #expect(try status.document(at: Self.now).parts[0].state == .running)
    _ = try status.document(at: Self.later)
    // The end of the process changes no file that records runs or items.
    lock.release()
    #expect(try status.document(at: Self.later).parts[0].state == .interrupted)
  }
}
