import FerryDigest

/// Describes the bytes in a kept part of a download: their number, their document and its version.
///
/// The record is stored in the part itself, after the position of the document's last byte, so that it can neither be
/// lost separately from the part nor belong to another one.
struct PartRecord: Equatable, Sendable {
  /// The number of bytes that a record takes in the file.
  static let length = 4096
  private static let heading = "ferry part 1"

  /// Identifies the source of the bytes (`PartSource`).
  var source: String
  /// The strong validator of the version, as it is sent in `If-Range`.
  var validator: String
  /// The value of `Last-Modified`; `nil` if there is none.
  var modified: String?
  /// The size of the document in bytes.
  var size: Int64
  /// The bytes of the document that have been written.
  var written = WrittenRanges()
  /// Identifies the period since the system started. After a power failure, the file system may have lost bytes that
  /// were written before, but not the record.
  var boot: String

  /// The number of the first byte that a request for the rest of the document asks for. A part that has all bytes
  /// asks for the last one again: the response to a request for no bytes would be 416, whatever version the server has.
  var firstRequested: Int64 { min(written.beginning, size - 1) }

  /// The document's header fields that may be absent from a response with the rest of the document.
  var fields: [(name: String, value: String)] {
    let tag = Validator.isEntityTag(validator) ? [(name: "ETag", value: validator)] : []
    return tag + (modified.map { [(name: "Last-Modified", value: $0)] } ?? [])
  }

  /// The bytes of the record.
  var bytes: [UInt8] {
    let text = [
      Self.heading, "source \(source)", "validator \(validator)", "modified \(modified ?? "-")",
      "size \(size)", "written \(written.text)",
      "boot \(boot)",
    ]
    var bytes = Array(text.joined(separator: "\n").utf8)
    bytes += Array("\n\(Self.checksum(bytes))\n".utf8)
    // The parts of the text are bounded: a validator has at most `Validator.limit` bytes, and `WrittenRanges.recordable`
    // limits the ranges.
    bytes += [UInt8](repeating: 0, count: max(0, Self.length - bytes.count))
    return bytes
  }

  init(
    source: String, validator: String, modified: String? = nil, size: Int64,
    written: WrittenRanges = WrittenRanges(), boot: String
  ) {
    self.source = source
    self.validator = validator
    self.modified = modified
    self.size = size
    self.written = written
    self.boot = boot
  }

  /// Returns `nil` if the bytes are not a record, or if they are damaged.
  init?(_ bytes: [UInt8]) {
    let text = bytes.prefix { $0 != 0 }
    guard bytes.count == Self.length, text.last == 0x0A,
      let end = text.dropLast().lastIndex(of: 0x0A),
      Self.checksum(Array(text[..<end])).utf8.elementsEqual(text[(end + 1)...].dropLast())
    else { return nil }
    var lines = String(decoding: text[..<end], as: UTF8.self).split(separator: "\n")[...]
    func value(_ name: String) -> String? {
      guard let line = lines.popFirst(), line.hasPrefix(name + " ") else { return nil }
      return String(line.dropFirst(name.count + 1))
    }
    guard lines.popFirst().map(String.init) == Self.heading, let source = value("source"),
      let validator = value("validator"), let modified = value("modified"),
      let size = value("size").flatMap({ Int64($0) }), size > 0,
      let written = value("written").flatMap({ WrittenRanges($0, of: size) }), let boot = value("boot"),
      lines.isEmpty, Validator.isEntityTag(validator) || Validator.isDate(validator),
      modified == "-" || Validator.isDate(modified)
    else { return nil }
    self.init(
      source: source, validator: validator, modified: modified == "-" ? nil : modified, size: size,
      written: written, boot: boot)
  }

  private static func checksum(_ bytes: [UInt8]) -> String {
    let digest = CRC32()
    bytes.withUnsafeBytes { digest.update($0) }
    return Hexadecimal.text(digest.finalize())
  }
}
