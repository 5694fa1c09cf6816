import FerryPlan

/// The number of transactions written to a session's journal, as `sessions/IDENT.commits` records it outside
/// the journal.
///
/// The journal also counts its own transactions, in `session.commits`. SQLite treats the first log frame with a wrong
/// checksum as the end of the log, and a missing log as an empty one, without reporting an error
/// (https://www.sqlite.org/fileformat.html#wal_file_format). If a journal's own count is lower than the count in this
/// record, the journal has lost transactions.
struct CommitCounts: Equatable, Sendable {
  /// The number of committed transactions. They survive the end of the process, but not necessarily a power failure.
  var committed: Int64
  /// The number of transactions covered by a sync. They survive a power failure.
  var synced: Int64
  /// The boot in which the record was written; empty if unknown.
  var boot: String

  /// The lowest count that an undamaged journal can have when it is opened. If the record was written in the same boot,
  /// there was no power failure, so every committed transaction must be present.
  func required(in boot: String) -> Int64 {
    !boot.isEmpty && boot == self.boot ? max(committed, synced) : synced
  }

  /// The number of transactions missing from a journal whose count is `found`.
  func lost(from found: Int64, in boot: String = ProcessIdentity.currentBoot) -> Int64 {
    max(0, required(in: boot) -| found)
  }
}

/// The format of the record: five lines of text with a fixed total length. The record is much smaller than a
/// disk sector, so after a power failure the file contains either the old or the new record.
extension CommitCounts {
  static let length = head.count + 3 * newline + numbers + bootLength + checkLength + labels

  private static let head = Array("ferry commits 1\n".utf8)
  private static let names = ["committed ", "synced ", "boot "].map { Array($0.utf8) }
  private static let checkName = Array("check ".utf8)
  private static let digits = 19
  private static let numbers = 2 * digits
  private static let bootLength = 36
  private static let checkLength = checkName.count + 16 + 1
  private static let newline = 1
  private static let labels = names.reduce(0) { $0 + $1.count }

  /// The record's bytes.
  var bytes: [UInt8] {
    var bytes = Self.head
    bytes.reserveCapacity(Self.length)
    for (name, number) in zip(Self.names, [committed, synced]) {
      bytes += name
      Self.append(UInt64(clamping: number), base: 10, digits: Self.digits, to: &bytes)
      bytes.append(UInt8(ascii: "\n"))
    }
    bytes += Self.names[2]
    let boot = boot.utf8.count <= Self.bootLength ? Array(boot.utf8) : []
    bytes += boot + [UInt8](repeating: UInt8(ascii: " "), count: Self.bootLength - boot.count)
    bytes.append(UInt8(ascii: "\n"))
    let check = Self.checksum(bytes)
    bytes += Self.checkName
    Self.append(check, base: 16, digits: 16, to: &bytes)
    bytes.append(UInt8(ascii: "\n"))
    return bytes
  }

  /// Returns `nil` if the bytes are not a record, or if their checksum is wrong.
  init?(_ bytes: [UInt8]) {
    guard bytes.count == Self.length else { return nil }
    let lines = String(decoding: bytes, as: UTF8.self).split(
      separator: "\n", omittingEmptySubsequences: false)
    guard lines.count == 6, let committed = Int64(lines[1].dropFirst(Self.names[0].count)),
      let synced = Int64(lines[2].dropFirst(Self.names[1].count)), committed >= 0, synced >= 0
    else { return nil }
    let boot = lines[3].dropFirst(Self.names[2].count).prefix { $0 != " " }
    self.init(committed: committed, synced: synced, boot: String(boot))
    // Each record has exactly one encoding, so this comparison detects any other damage.
    guard self.bytes == bytes else { return nil }
  }

  private static func append(_ number: UInt64, base: UInt64, digits: Int, to bytes: inout [UInt8]) {
    let end = bytes.count + digits
    bytes += [UInt8](repeating: UInt8(ascii: "0"), count: digits)
    var rest = number
    var place = end - 1
    while rest > 0, place >= end - digits {
      let digit = UInt8(truncatingIfNeeded: rest % base)
      bytes[place] = digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10
      rest /= base
      place -= 1
    }
  }

  /// FNV-1a with 64 bits (https://www.rfc-editor.org/rfc/rfc9923). It detects damage, but not tampering.
  private static func checksum(_ bytes: [UInt8]) -> UInt64 {
    bytes.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
  }
}
