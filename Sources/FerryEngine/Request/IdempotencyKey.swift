import FerryDigest
import FerryManifest
import FerryPlan

/// The key that identifies a repeated commit to a server. It is the same in every attempt, launch and
/// process, because it is derived only from values that are available in all of them (docs/delivery.md).
package struct IdempotencyKey: Sendable {
  package var manifest: String
  package var upload: String
  /// The scheme, host and port of the upload's first step; empty if a capture determines them.
  package var origin: String
  /// The path relative to `root`.
  package var path: [UInt8]
  /// The size in bytes.
  package var size: Int64
  /// The modification time in nanoseconds since 1970.
  package var modified: Int64
  /// The captures of the `allocate` response.
  package var captures: [CapturedValue]
  /// The digest (32 bytes) if changes are detected by content; otherwise `nil`.
  package var sha256: [UInt8]?
  /// The round, if there is no upload ID and each round is a new delivery; otherwise `nil`.
  package var round: Int64?

  package init(
    manifest: String, upload: String, origin: String, path: [UInt8], size: Int64, modified: Int64,
    captures: [CapturedValue] = [], sha256: [UInt8]? = nil, round: Int64? = nil
  ) {
    self.manifest = manifest
    self.upload = upload
    self.origin = origin
    self.path = path
    self.size = size
    self.modified = modified
    self.captures = captures
    self.sha256 = sha256
    self.round = round
  }

  /// A UUID of version 8 (RFC 9562 §5.8): the first 16 bytes of the SHA-256 of the fields. Each field is preceded by
  /// its length in 8 bytes, most significant byte first.
  package var text: String {
    let hash = SHA256()
    func add(_ bytes: some Collection<UInt8>) {
      withUnsafeBytes(of: UInt64(bytes.count).bigEndian) { hash.update(UnsafeRawBufferPointer($0)) }
      hash.update(bytes)
    }
    add("ferry idempotency key 1".utf8)
    add(manifest.utf8)
    add(upload.utf8)
    add(origin.utf8)
    add(path)
    add(String(size).utf8)
    add(String(modified).utf8)
    // A journal returns non-secret captures before secret ones, so the order must not matter.
    for capture in captures.sorted(by: { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }) {
      add(capture.name.utf8)
      add(capture.value.utf8)
    }
    if let sha256 { add(sha256) }
    if let round { add(String(round).utf8) }
    var bytes = Array(hash.finalize().prefix(16))
    bytes[6] = bytes[6] & 0x0F | 0x80
    bytes[8] = bytes[8] & 0x3F | 0x80
    let digits = Hexadecimal.text(bytes)
    let parts = [0..<8, 8..<12, 12..<16, 16..<20, 20..<32].map { range in
      digits.utf8.dropFirst(range.lowerBound).prefix(range.count)
    }
    return parts.map { String(decoding: $0, as: UTF8.self) }.joined(separator: "-")
  }
}
