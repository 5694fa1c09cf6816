import FerryJournal
import FerryPlan
import Foundation
import Testing

@Suite struct DiskFullTests {
  /// Runs the body with a file system of 1 MiB in memory, if the user may mount one.
  private func withSmallDisk(_ body: (String) throws -> Void) throws {
    let folder = NSTemporaryDirectory() + "/ferry-full-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    guard try run("mount", "-t", "tmpfs", "-o", "size=1m", "ferry-test", folder) else {
      FileHandle.standardError.write(Data("skipped: no file system can be mounted here\n".utf8))
      return
    }
    defer {
      // A lazy unmount is required, because a failed journal keeps its files open until the process exits.
      _ = try? run("umount", "-l", folder)
    }
    try body(folder)
  }

  private func run(_ arguments: String...) throws -> Bool {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = arguments
    process.standardError = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    return process.terminationStatus == 0
  }

  @Test func aFullDiskStopsTheWriterAndKeepsSyncedRows() throws {
    try withSmallDisk { folder in
      let directory = try StateDirectory(explicit: folder + "/state", environment: [:])
      let journal = try SessionJournal.open(
        session: "s", in: directory, known: [], writtenBy: "0", at: .start)
      let node = try journal.photos().id
      let log = EventLog()
      let writer = try JournalWriter(journals: [journal], deliver: log.post)
      let files = FileColumns(count: 100)
      let number = try writer.append(
        [.insert(node: node, round: 1, handedOver: .start, firstRow: 1, files: files)], to: 0)
      try writer.sync()
      #expect(log.waitForSync(through: number))
      let many = FileColumns((0..<20_000).map { Array("many/\($0)".utf8) })
      try writer.append(
        [.insert(node: node, round: 1, handedOver: .start, firstRow: 101, files: many)], to: 0)
      let failure = try #require(log.waitForFailure())
      #expect(failure.code == .diskFull)
      #expect(failure.description.contains("free some space"))
      #expect(throws: failure) { try writer.append([.withdraw(row: 1)], to: 0) }
      #expect(throws: failure) { try writer.close() }
      try journal.close()

      let reader = try SessionJournal.openForReading(session: "s", in: directory)
      #expect(try reader.items(node).count == 100)
    }
  }

  @Test func aReadOnlyFolderIsNamed() throws {
    // root can write everywhere except in /proc.
    let directory = try StateDirectory(explicit: "/proc/ferry-state", environment: [:])
    let error = try #require(throws: JournalError.self) {
      try SessionJournal.open(session: "s", in: directory, known: [], writtenBy: "0", at: .start)
    }
    #expect(error.file.hasPrefix("/proc/ferry-state"))
    #expect(error.description.contains("help: "))
  }
}
