/// How many transactions a session's journal has been given, as `sessions/IDENT.commits` records it beside the journal.
///
/// The journal counts its transactions itself, in `session.commits`. SQLite takes the first frame of a log whose
/// checksum does not fit for the log's end, and a log that is missing for an empty one, without an error
/// (https://www.sqlite.org/fileformat.html#wal_file_format). So a journal whose own count is below this record's has
/// lost transactions, whatever the reason is.
struct CommitCounts: Equatable, Sendable {
  /// Transactions that were committed: they survive the end of the process, and not a power cut.
  var committed: Int64
  /// Transactions that a sync covers: they survive a power cut.
  var synced: Int64
  /// The boot in which this was written; empty where it is not known.
  var boot: String

  /// What a journal that is opened now has at least. Within one boot no power was cut, so every write is there.
  func required(in boot: String) -> Int64 {
    !boot.isEmpty && boot == self.boot ? max(committed, synced) : synced
  }

  /// So many transactions are missing from a journal that has `found`.
  func lost(from found: Int64, in boot: String = ProcessIdentity.currentBoot) -> Int64 {
    max(0, required(in: boot) - found)
  }
}

/// The record's form: five lines of text of a fixed length, far below a disk's sector, so that a power cut leaves the
/// old record or the new one.
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

  /// `nil` where these are no record's bytes, or their checksum does not fit.
  init?(_ bytes: [UInt8]) {
    guard bytes.count == Self.length else { return nil }
    let lines = String(decoding: bytes, as: UTF8.self).split(
      separator: "\n", omittingEmptySubsequences: false)
    guard lines.count == 6, let committed = Int64(lines[1].dropFirst(Self.names[0].count)),
      let synced = Int64(lines[2].dropFirst(Self.names[1].count)), committed >= 0, synced >= 0
    else { return nil }
    let boot = lines[3].dropFirst(Self.names[2].count).prefix { $0 != " " }
    self.init(committed: committed, synced: synced, boot: String(boot))
    // Whatever else is different is found here: one record has one form.
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

  /// FNV-1a of 64 bits (https://www.rfc-editor.org/rfc/rfc9923): against damage, not against a person.
  private static func checksum(_ bytes: [UInt8]) -> UInt64 {
    bytes.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
  }
}
