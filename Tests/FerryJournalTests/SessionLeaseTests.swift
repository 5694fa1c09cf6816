import FerryPlan
import Foundation
import GRDB
import Synchronization
import Testing

@testable import FerryJournal

/// The lease of a shard's journal.
@Suite struct `A lease` {
  private let state: TemporaryState

  init() throws { state = try TemporaryState() }

  private func folder() throws -> StateDirectory {
    let shard = try #require(Shard(1, of: 2))
    let folder = try state.directory.folder(of: .shard(shard), of: "m")
    try folder.create(for: .shard(shard), of: "m")
    return folder
  }

  private func journal(_ folder: StateDirectory) throws -> SessionJournal {
    try SessionJournal.open(session: "s", in: folder, known: [], writtenBy: "0.0-test", at: .start)
  }

  private func acquired(_ attempt: SessionLease.Attempt) throws -> SessionLease {
    guard case .acquired(let lease) = attempt else {
      Issue.record("the journal is held")
      throw CancellationError()
    }
    return lease
  }

  private func write(_ journal: SessionJournal) throws {
    _ = try journal.node(manifest: "m", name: "up", kind: .upload, origin: "https://h")
    try journal.commit([[]])
  }

  @Test func `of a shard is in a journal without write-ahead log, whose transactions are on disk`() throws {
    let folder = try folder()
    let first = try journal(folder)
    let lease = try acquired(try first.acquireLease(for: .seconds(30)))
    try write(first)
    #expect(first.isShared && lease.isHeld)
    let path = try folder.database(ofSession: "s")
    #expect(!FileManager.default.fileExists(atPath: path + "-wal"))
    let reader = try SessionJournal.openForReading(session: "s", in: folder)
    #expect(try reader.nodes.count == 1)
  }

  @Test func `is in a journal that several processes can create at the same time`() throws {
    let errors = Mutex<[String]>([])
    for number in 0..<50 {
      try state.directory.create()
      let path = state.directory.path + "/\(number).db"
      DispatchQueue.concurrentPerform(iterations: 4) { _ in
        do {
          let queue = try DatabaseFile(path: path, schema: .session, isShared: true)
            .openForWriting(durability: .onRequest, writtenBy: "0.0-test", at: .start)
          try queue.close()
        } catch {
          errors.withLock { $0.append("\(error)") }
        }
      }
    }
    #expect(errors.withLock { $0 } == [])
  }

  @Test func `is not taken from a process that renews it`() throws {
    let folder = try folder()
    let first = try journal(folder)
    // A machine under load may renew it late.
    let lease = try acquired(try first.acquireLease(for: .seconds(6)))
    let second = try journal(folder)
    guard case .held(let owner) = try second.acquireLease(for: .seconds(6)) else {
      Issue.record("two processes own the journal")
      return
    }
    #expect(owner?.process == .current && lease.isHeld)
    try write(first)
  }

  @Test func `is free at once when it has been released`() throws {
    let folder = try folder()
    let first = try journal(folder)
    let lease = try acquired(try first.acquireLease(for: .seconds(3600)))
    lease.release()
    #expect(!lease.isHeld)
    let second = try acquired(try journal(folder).acquireLease(for: .seconds(30)))
    #expect(second.epoch == lease.epoch + 1)
  }

  @Test func `that has been taken over fences every later write of the previous owner`() throws {
    let folder = try folder()
    let first = try journal(folder)
    let lease = try acquired(try first.acquireLease(for: .seconds(6)))
    try write(first)
    // Another process has seen no beat for the whole duration.
    let second = try journal(folder)
    try second.access { try $0.execute(sql: "UPDATE session SET lease_epoch = 7, lease_owner = NULL") }
    let taken = try acquired(try second.acquireLease(for: .seconds(30)))
    #expect(taken.epoch == 8)
    let error = #expect(throws: JournalError.self) { try first.commit([[]]) }
    #expect(error?.code == .leaseLost)
    try second.commit([[]])
    // The thread that renews the lease finds the other epoch.
    let deadline = ContinuousClock.now + .seconds(60)
    while lease.isHeld, ContinuousClock.now < deadline { usleep(10_000) }
    #expect(!lease.isHeld && taken.isHeld)
    #expect(lease.loss.code == .leaseLost)
  }

  /// Owners that this process cannot recognize as ended, although they have not released the lease: a process of another
  /// machine, and a process of this one in another namespace of times.
  private static var unknownOwners: [String] {
    var owner = LeaseOwner.current
    owner.process = ProcessIdentity(pid: 1 << 22, started: 1, boot: owner.process.boot)
    owner.namespaces = owner.namespaces.replacing(/time:.*/, with: "time:[1]")
    return ["17 4 other-boot pid:[1] elsewhere", owner.text]
  }

  @Test(arguments: unknownOwners)
  func `is taken over when nobody has renewed it for its duration`(owner: String) throws {
    let folder = try folder()
    let first = try journal(folder)
    let lease = try acquired(try first.acquireLease(for: .seconds(1)))
    lease.release()
    try first.access { try $0.execute(sql: "UPDATE session SET lease_owner = ?", arguments: [owner]) }
    let began = ContinuousClock.now
    _ = try acquired(try journal(folder).acquireLease(for: .seconds(30)))
    let took = began.duration(to: .now)
    #expect(took >= .seconds(1) && took < .seconds(20), "\(took)")
  }

  @Test func `of a process of this machine that has ended is taken over at once`() throws {
    let folder = try folder()
    let first = try journal(folder)
    let lease = try acquired(try first.acquireLease(for: .seconds(3600)))
    lease.release()
    var owner = LeaseOwner.current
    owner.process = ProcessIdentity(pid: 1 << 22, started: 1, boot: owner.process.boot)
    let text = owner.text
    #expect(LeaseOwner(text) == owner)
    try first.access { try $0.execute(sql: "UPDATE session SET lease_owner = ?", arguments: [text]) }
    _ = try acquired(try journal(folder).acquireLease(for: .seconds(30)))
  }
}
