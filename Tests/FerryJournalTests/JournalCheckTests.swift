import FerryPlan
import Foundation
import GRDB
import Testing

@testable import FerryJournal

@Suite struct JournalCheckTests {
  let state: TemporaryState

  init() throws { state = try TemporaryState() }

  /// Creates a session with items in every state, and its run history.
  private func fill(_ count: Int = 10) throws {
    let history = try RunHistory.open(in: state.directory, writtenBy: "0", at: .start)
    try history.register(JobRow(manifest: "m", path: "/m.yaml", variables: ["a": "b"], registeredAt: .start))
    _ = try history.openRound(manifest: "m", at: .start)
    try history.begin(
      RunRow(id: "r1", launch: .background, rounds: [.init(manifest: "m", number: 1)], startedAt: .start))
    try history.close()
    let journal = try state.open()
    let node = try journal.photos().id
    let failure = RecordedFailure(code: "http_status", status: 403, message: "no")
    let id = [CapturedValue(name: "allocate.id", value: "u", isSecret: false)]
    try journal.write([
      .insert(node: node, round: 1, handedOver: .start, firstRow: 1, files: FileColumns(count: count)),
      .allocated(row: 2, captures: id, expires: .start(plus: 60)),
      .allocated(row: 3, captures: id, expires: nil), .transferred(row: 3, captures: [], sha256: nil),
      .intent(row: 3, step: .commit), .closed(row: 4, state: .done, at: .start, failure: nil),
      .closed(row: 5, state: .failed, at: .start, failure: failure), .intent(row: 6, step: .transfer),
      .closed(row: 6, state: .ambiguous, at: .start, failure: failure),
      .closed(row: 7, state: .cancelled, at: .start, failure: failure), .intent(row: 8, step: .allocate),
    ])
    try journal.close()
  }

  private func verdicts(_ sessions: [String] = ["s"]) throws -> [JournalVerdict] {
    var verdicts: [JournalVerdict] = []
    try JournalCheck.run(sessions: sessions, in: state.directory) { verdicts.append($0) }
    return verdicts
  }

  private func findings() throws -> [JournalFinding] { try verdicts().flatMap(\.findings) }

  /// Changes a database in a way that ferry never does.
  private func change(_ path: String, _ sql: String) throws {
    let raw = try DatabaseQueue(path: path)
    try raw.writeWithoutTransaction { db in
      try db.execute(sql: "PRAGMA ignore_check_constraints = ON; PRAGMA foreign_keys = OFF; \(sql)")
    }
    try raw.close()
  }

  @Test func aSoundJournalHasNoFindings() throws {
    try fill()
    let verdicts = try verdicts()
    #expect(verdicts.map(\.session) == ["s", nil])
    #expect(verdicts.flatMap(\.findings) == [])
    #expect(verdicts[0].rows["item"] == 10 && verdicts[1].rows["run"] == 1)
    #expect(verdicts[0].schema != nil)
  }

  @Test func aCheckChangesNothing() throws {
    try fill()
    let before = try state.contents()
    _ = try verdicts()
    #expect(try state.contents() == before)
  }

  @Test func aCheckDuringAWriteIsSound() throws {
    try fill()
    let journal = try state.open()
    let node = try journal.photos().id
    for turn in 0..<5 {
      let first = Int64(1000 + turn * 1000)
      let names = (0..<1000).map { Array("more/\(turn)/\($0)".utf8) }
      try journal.write([
        .insert(node: node, round: 1, handedOver: .start, firstRow: first, files: FileColumns(names))
      ])
      #expect(try findings() == [])
    }
    try journal.close()
  }

  @Test(arguments: [
    ("UPDATE item SET id = 9223372036854775807 WHERE id = 1", JournalFinding.Code.unknownValue),
    ("UPDATE item SET id = 0 WHERE id = 1", .unknownValue),
    ("UPDATE item SET state = 9 WHERE id = 1", JournalFinding.Code.unknownValue),
    ("UPDATE item SET intent = 6 WHERE id = 1", .unknownValue),
    ("UPDATE item SET intent = 3 WHERE id = 1", .intentNotAllowed),
    ("UPDATE item SET intent = 2 WHERE id = 4", .intentNotAllowed),
    ("UPDATE item SET state = 6, captures = '{\"allocate.id\":\"u\"}' WHERE id = 4", .capturesNotAllowed),
    ("UPDATE item SET secret_captures = 'x' WHERE id = 2", .unreadableText),
    ("UPDATE item SET closed_at = NULL WHERE id = 4", .closingDiffers),
    ("UPDATE item SET closed_at = 1 WHERE id = 1", .closingDiffers),
    ("UPDATE item SET failure_code = NULL WHERE id = 5", .reasonMissing),
    ("UPDATE item SET node = 77 WHERE id = 1", .brokenReference),
    ("UPDATE item SET after = 9 WHERE id = 4", .unknownValue),
    ("UPDATE item SET after = 1 WHERE id = 1", .unknownValue),
    ("UPDATE item SET inode = 0 WHERE id = 4", .unknownValue),
    ("UPDATE item SET root_device = 1 WHERE id = 4", .unknownValue),
    ("UPDATE item SET after_tried = 1 WHERE id = 4", .unknownValue),
    ("UPDATE item SET key_header = 'Key' WHERE id = 3", .unknownValue),
    ("UPDATE item SET key_header = 'Key', key_value = 'k' WHERE id = 1", .unknownValue),
    ("UPDATE item SET round = 2 WHERE id = 1", .unknownRound),
    ("UPDATE item SET sha256 = x'00' WHERE id = 4", .unknownValue),
    ("UPDATE node SET intent = 1, state = 3, closed_at = 1", .intentNotAllowed),
    ("UPDATE node SET kind = 8", .unknownValue), ("DELETE FROM session", .unknownValue),
    ("UPDATE session SET delay_period = 1", .unknownValue), ("DROP INDEX item_path", .schemaDiffers),
    ("ALTER TABLE item ADD COLUMN mine INTEGER", .schemaDiffers), ("DELETE FROM history", .schemaDiffers),
  ])
  func aSessionThatViolatesARuleIsReportedWithARemedy(change sql: String, code: JournalFinding.Code) throws {
    try fill()
    try change(state.database(), sql)
    let findings = try findings()
    #expect(findings.contains { $0.code == code }, "\(findings)")
    for finding in findings {
      #expect(!finding.message.isEmpty && !finding.effect.isEmpty && !finding.remedy.isEmpty)
    }
  }

  @Test(arguments: [
    ("UPDATE run SET state = 7", JournalFinding.Code.unknownValue),
    ("UPDATE run SET ended_at = 1", .closingDiffers), ("UPDATE run_round SET round = 9", .unknownRound),
    ("DELETE FROM run", .brokenReference), ("DELETE FROM job", .jobMissing),
    ("UPDATE job SET variables = 'x'", .unreadableText),
    ("INSERT INTO usage VALUES ('wifi', 1, -1)", .ledgerWrong),
    ("INSERT INTO usage VALUES ('pigeon', 1, 1)", .ledgerWrong),
    ("INSERT INTO note (session, kind, created_at) VALUES ('s', 'dance', 1)", .noteWrong),
    ("DROP INDEX round_open", .schemaDiffers),
  ])
  func aHistoryThatViolatesARuleIsReportedWithARemedy(change sql: String, code: JournalFinding.Code) throws {
    try fill()
    try change(state.directory.history, sql)
    let findings = try findings()
    #expect(findings.contains { $0.code == code }, "\(findings)")
  }

  /// A device without a clock may start in 1970, in a time zone in which that is 1969 in UTC.
  @Test func usageAtAnyTimeOfAClockIsSound() throws {
    try fill()
    for time in [Int64.min, -1, Int64.max] {
      let quarter = QuarterHour.of(Instant(nanoseconds: time))
      try change(state.directory.history, "INSERT INTO usage VALUES ('wifi', \(quarter), 1)")
    }
    #expect(try findings().isEmpty)
    try change(state.directory.history, "INSERT INTO usage VALUES ('wifi', 99999999999, 1)")
    #expect(try findings().map(\.code) == [.ledgerWrong])
  }

  @Test func aDifferentIndexIsNotDamage() throws {
    try fill()
    // The index has a path that the table does not have, as after a lost write of the index alone.
    try change(
      state.database(),
      """
      PRAGMA writable_schema = ON; CREATE TABLE other (node, path);
      UPDATE sqlite_schema SET sql = replace(sql, 'node, path', 'node, size') WHERE name = 'item_path';
      DROP TABLE other;
      """)
    let findings = try findings()
    #expect(findings.contains { $0.code == .indexDiffers || $0.code == .schemaDiffers }, "\(findings)")
    #expect(!findings.contains { $0.code == .damagedPages }, "\(findings)")
  }

  /// Overwrites bytes of a real journal in one page after another. The check finds each change that has an effect, and
  /// a run that opens such a file reports it or reads correct data.
  @Test func aDamagedPageIsFoundAnywhere() throws {
    try fill(3000)
    let path = try state.database()
    let whole = try Data(contentsOf: URL(filePath: path))
    let pages = whole.count / 4096
    #expect(pages > 20)
    for page in stride(from: 0, to: pages, by: max(1, pages / 12)) {
      var bytes = whole
      for index in (page * 4096 + (page == 0 ? 100 : 0))..<(page * 4096 + 2048) { bytes[index] = 0xa5 }
      try bytes.write(to: URL(filePath: path))
      chmod(path, 0o600)
      let damage = try findings().filter { $0.code == .damagedPages || $0.code == .refused }
      #expect(!damage.isEmpty, "page \(page) of \(pages)")
      #expect(damage.allSatisfy { !$0.effect.isEmpty && $0.remedy.contains("copy") }, "\(damage)")
      #expect(try Data(contentsOf: URL(filePath: path)) == bytes)
    }
  }

  @Test func anEmptiedFileIsReported() throws {
    try fill()
    try Data().write(to: URL(filePath: state.database()))
    chmod(try state.database(), 0o600)
    #expect(try findings().map(\.code) == [.emptied])
  }

  @Test func anEmptiedHistoryIsReportedWithTheRoundsThatItLacks() throws {
    try fill()
    try Data().write(to: URL(filePath: state.directory.history))
    chmod(state.directory.history, 0o600)
    #expect(try findings().map(\.code) == [.unknownRound, .emptied])
  }

  @Test func aMissingJournalIsReportedIfItsSessionHasSentSomething() throws {
    try fill()
    let history = try RunHistory.open(in: state.directory, writtenBy: "0", at: .start)
    let sample = TransferSample(bytes: 9, duration: .seconds(1))
    try history.end(
      run: "r1", exitCode: 0, report: nil,
      rates: [RateRow(manifest: "m", upload: "photos", session: "s", sample: sample)], at: .start)
    try history.close()
    #expect(try findings() == [])
    // An ephemeral session has neither a journal nor a lock.
    try FileManager.default.removeItem(atPath: state.database())
    #expect(try verdicts([]).flatMap(\.findings) == [])
    guard case .acquired(let lock) = try SessionLock.try(session: "s", in: state.directory, at: .start) else {
      Issue.record("nobody has the lock")
      return
    }
    lock.release()
    let findings = try verdicts([]).flatMap(\.findings)
    #expect(findings.map(\.code) == [.journalMissing])
    // A force quit also removes the recorded state of the session.
    let again = try RunHistory.open(in: state.directory, writtenBy: "0", at: .start)
    try again.forget(session: "s")
    try again.close()
    #expect(try verdicts([]).flatMap(\.findings) == [])
  }

  /// Runs the printed remedy with Debian's sqlite3.
  @Test(arguments: [0, 1, 2]) func theRemedyForADamagedPageRecoversTheRest(damaged: Int) throws {
    try fill(3000)
    let path = try state.database()
    var bytes = try Data(contentsOf: URL(filePath: path))
    let pages = bytes.count / 4096
    // No page is damaged, or one in the middle, or one near the end.
    if damaged > 0 {
      let page = damaged == 1 ? pages / 2 : pages - 3
      for index in (page * 4096)..<(page * 4096 + 2048) { bytes[index] = 0xa5 }
    }
    try bytes.write(to: URL(filePath: path))
    chmod(path, 0o600)
    let remedy =
      try findings().first { $0.code == .damagedPages }?.remedy
      ?? DatabaseIntegrity.remedy(DatabaseFile(path: path, schema: .session))
    let start = try #require(remedy.range(of: "umask "))
    let end = try #require(remedy.range(of: ". Then move"))
    let new = state.directory.path + "/new.db"
    let commands = remedy[start.lowerBound..<end.lowerBound].replacing("FILE", with: path)
      .replacing("NEW", with: new)
    let shell = Process()
    shell.executableURL = URL(filePath: "/bin/sh")
    shell.arguments = ["-c", String(commands)]
    shell.standardError = FileHandle.nullDevice
    try shell.run()
    shell.waitUntilExit()
    for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + suffix) }
    #expect(state.mode(new) == 0o600)
    try FileManager.default.moveItem(atPath: new, toPath: path)
    let after = try verdicts().first
    #expect(after?.findings.isEmpty == true, "\(after?.findings ?? [])")
    #expect(after?.rows["item"] ?? 0 > (damaged > 0 ? 1000 : 2999), "\(after?.rows ?? [:])")
    let journal = try state.open()
    #expect(try journal.photos().id != 0)
    try journal.close()
  }

  @Test func aNewerSchemaAndAnotherProgramsFileAreReportedAsSuch() throws {
    try fill()
    try change(state.database(), "PRAGMA user_version = 99")
    #expect(try findings().map(\.code) == [.refused])
    #expect(try findings()[0].remedy.contains("newer"))
    try change(state.database(), "PRAGMA application_id = 7")
    #expect(try findings()[0].message.contains("application id"))
  }

  /// The file looks as if another program had created it. Even so, the remedy must report what is lost without the
  /// file.
  @Test(arguments: [0..<16, 68..<72]) func aDestroyedHeaderLosesTheContentsOfTheFile(_ bytes: Range<Int>)
    throws
  {
    try fill()
    let remedies = [
      try state.database(): "ferry then creates a new journal and resends all files",
      state.directory.history: "If you move it away, ferry continues from the sessions' journals",
    ]
    for (path, remedy) in remedies {
      var content = try Data(contentsOf: URL(filePath: path))
      for index in bytes { content[index] = 0xa5 }
      try content.write(to: URL(filePath: path))
      chmod(path, 0o600)
      let finding = try #require(try verdicts().first { $0.file == path }?.findings.first)
      #expect(finding.code == .refused && finding.effect.hasPrefix("the contents of the file"))
      #expect(finding.remedy.contains(remedy))
    }
    let error = #expect(throws: JournalError.self) { try state.open() }
    #expect(error?.remedy.contains("resends all files that the session had delivered") == true)
    let other = JournalError(.foreign, file: "/tmp/other.db", cause: "")
    #expect(other.remedy.hasPrefix("move the file away"))
  }

  @Test func aFileThatOthersCanReadAndALogWithoutItsFileAreReported() throws {
    try fill()
    chmod(try state.database(), 0o644)
    #expect(try findings().map(\.code) == [.openToOthers])
    chmod(try state.database(), 0o600)
    let path = try state.database()
    try Data(repeating: 1, count: 100).write(to: URL(filePath: path + "-wal"))
    chmod(path + "-wal", 0o600)
    try FileManager.default.removeItem(atPath: path)
    #expect(try findings().first?.code == .logWithoutFile)
  }
}
