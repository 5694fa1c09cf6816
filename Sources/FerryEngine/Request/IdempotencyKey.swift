import FerryDigest
import FerryManifest
import FerryPlan

/// The key by which a server knows a repeated commit: the same in every attempt, launch and process, as it comes from
/// nothing that only one of them knows (docs/delivery.md).
package struct IdempotencyKey: Sendable {
  package var manifest: String
  package var upload: String
  /// Scheme, host and port of the upload's first step; empty where a capture decides it.
  package var origin: String
  /// Relative to `root`.
  package var path: [UInt8]
  /// In bytes.
  package var size: Int64
  /// Nanoseconds since 1970.
  package var modified: Int64
  /// What the answer to `allocate` gave.
  package var captures: [CapturedValue]
  /// Where what a file holds tells whether it changed: 32 bytes.
  package var sha256: [UInt8]?
  /// Where without an upload ID every round is another delivery.
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

  /// A UUID of version 8 (RFC 9562 §5.8): the first 16 bytes of the SHA-256 of the fields, each after its length as
  /// 8 bytes, most significant first.
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
    // A journal tells open captures before secret ones: their order in the manifest must not count.
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
