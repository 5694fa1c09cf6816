import FerryManifest

/// A time zone of the machine's IANA time zone database, read from its file (RFC 9636).
///
/// Foundation's `TimeZone` uses the data of ICU instead, which ferry does not contain (`CUnicodeData`).
struct TimeZoneFile {
  /// The times at which the offset changes, in seconds since 1970, and the offset from each of them.
  private let changes: [(at: Int, offset: Int)]
  /// The offset before the first change, in seconds east of UTC.
  private let initialOffset: Int
  /// The rule for the time after the last change; `nil` if the last offset remains.
  private let rule: TimeZoneRule?

  private static let folder = "/usr/share/zoneinfo/"
  /// The size limit of a file in bytes; present files have at most 4 kB.
  private static let largest = 1 << 20

  /// - Returns: `nil` if the database does not contain the name.
  init?(_ name: String) {
    // A file that cannot be read does not exist for ferry.
    guard TimeZoneNameRule.isValid(name),
      let bytes = try? FileContents(Self.folder + name).bytesOfRegularFile(limit: Self.largest)
    else { return nil }
    self.init(bytes)
  }

  /// Reads the content of a file.
  ///
  /// - Returns: `nil` if it is not a complete time zone file, because other files, such as `zone.tab`, are in the same
  ///   folder; also if it has leap seconds, as in `right/`, because its times then include them.
  init?(_ bytes: [UInt8]) {
    var reader = BigEndianReader(bytes)
    guard var header = reader.header() else { return nil }
    var timeSize = 4
    if header.version >= UInt8(ascii: "2") {
      // The first block has 32-bit times. A second block with 64-bit times follows.
      guard reader.skip(header.length(timeSize: 4)), let second = reader.header() else { return nil }
      (header, timeSize) = (second, 8)
    }
    guard header.types > 0 else { return nil }
    var times: [Int] = []
    for _ in 0..<header.times {
      guard let time = reader.integer(size: timeSize) else { return nil }
      times.append(time)
    }
    guard let indices = reader.bytes(header.times) else { return nil }
    var offsets: [Int] = []
    for _ in 0..<header.types {
      guard let offset = reader.integer(size: 4), reader.skip(2) else { return nil }
      offsets.append(offset)
    }
    var changes: [(at: Int, offset: Int)] = []
    for (time, index) in zip(times, indices) {
      guard Int(index) < offsets.count else { return nil }
      changes.append((time, offsets[Int(index)]))
    }
    (self.changes, initialOffset) = (changes, offsets[0])
    guard timeSize == 8 else {
      rule = nil
      return
    }
    guard reader.skip(header.lengthAfterTypes), let footer = reader.footer() else { return nil }
    rule = TimeZoneRule(footer)
    // Without a rule, the offsets after the last change would be wrong.
    if rule == nil, !footer.isEmpty { return nil }
  }

  /// The offset in seconds east of UTC.
  ///
  /// - Parameter second: seconds since 1970.
  func offset(at second: Int) -> Int {
    var (low, high) = (0, changes.count)
    while low < high {
      let middle = (low + high) / 2
      if changes[middle].at <= second { low = middle + 1 } else { high = middle }
    }
    if low == changes.count, let rule { return rule.offset(at: second) }
    return low == 0 ? initialOffset : changes[low - 1].offset
  }
}

/// Reads the parts of a time zone file from left to right.
private struct BigEndianReader {
  private var rest: ArraySlice<UInt8>

  struct Header {
    var version: UInt8
    var isUTCCount, isStandardCount, times, types, letters: Int

    /// The number of bytes of the data after the header.
    func length(timeSize: Int) -> Int {
      times * (timeSize + 1) + types * 6 + lengthAfterTypes
    }

    var lengthAfterTypes: Int { letters + isStandardCount + isUTCCount }
  }

  init(_ bytes: [UInt8]) { rest = bytes[...] }

  mutating func header() -> Header? {
    guard let start = bytes(20), start.starts(with: "TZif".utf8) else { return nil }
    var counts: [Int] = []
    for _ in 0..<6 {
      // A file has at most 1 MiB, so no count can be larger.
      guard let count = integer(size: 4), 0...(1 << 20) ~= count else { return nil }
      counts.append(count)
    }
    // The number of leap seconds.
    guard counts[2] == 0 else { return nil }
    return Header(
      version: start[start.startIndex + 4], isUTCCount: counts[0], isStandardCount: counts[1],
      times: counts[3], types: counts[4], letters: counts[5])
  }

  mutating func bytes(_ count: Int) -> ArraySlice<UInt8>? {
    guard rest.count >= count else { return nil }
    defer { rest = rest.dropFirst(count) }
    return rest.prefix(count)
  }

  mutating func skip(_ count: Int) -> Bool { bytes(count) != nil }

  /// Reads a signed number of 4 or 8 bytes.
  mutating func integer(size: Int) -> Int? {
    guard let bytes = bytes(size) else { return nil }
    let pattern = bytes.reduce(into: UInt64(0)) { $0 = $0 << 8 | UInt64($1) }
    return size == 4
      ? Int(Int32(truncatingIfNeeded: pattern)) : Int(Int64(bitPattern: pattern))
  }

  /// Reads the rule between two newlines at the end of a file.
  mutating func footer() -> [UInt8]? {
    guard let first = bytes(1)?.first, first == UInt8(ascii: "\n"),
      let end = rest.firstIndex(of: UInt8(ascii: "\n"))
    else { return nil }
    return Array(rest[..<end])
  }
}
