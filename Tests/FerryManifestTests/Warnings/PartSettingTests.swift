import Testing

@Suite struct `A setting for parts` {
  private static func text(_ transfer: String) -> String {
    """
    version: 1
    name: a
    sessions: { one: {} }
    uploads:
      u:
        session: one
        files: { root: r }
        allocate:
          request: { url: "https://a.example/up" }
          capture: { url: { header: Location } }
          valid_for: 1d
        transfer: { \(transfer), request: { METHOD url: "${allocate.url}" } }
    """
  }

  /// An upload without `allocate`.
  private static func tus(_ settings: String) -> String {
    """
    version: 1
    name: a
    sessions: { one: {} }
    uploads:
      u:
        session: one
        files: { root: r }
        transfer: { protocol: tus, \(settings), request: { url: "https://a.example/files" } }
    """
  }

  private static func put(_ transfer: String) -> String { text(transfer).replacing("METHOD ", with: "") }

  @Test(arguments: [
    ("chunk_size: 1️⃣8MiB", "'protocol: content_range' or 'protocol: tus' or 'protocol: resumable'"),
    ("interop_version: 1️⃣8", "'protocol: resumable'"),
    ("offset_query: 1️⃣get", "'protocol: content_range'"),
    ("protocol: tus, offset_query: 1️⃣put", "'protocol: content_range'"),
    ("protocol: content_range, creation: 1️⃣with_upload", "'protocol: tus'"),
    ("protocol: post, metadata: 1️⃣{ filename: a }", "'protocol: tus'"),
    ("protocol: content_range, checksum: 1️⃣crc32", "'protocol: tus' or 'protocol: s3_multipart'"),
    ("protocol: content_range, parallel_parts: 1️⃣2", "'protocol: tus' or 'protocol: s3_multipart'"),
  ])
  func `is reported without its protocol`(_ transfer: String, _ protocols: String) {
    expectWarnings(
      Self.put(transfer),
      [
        ExpectedWarning(
          mark: "1️⃣", code: .partSettings,
          message: "this has no effect without \(protocols)",
          help: "remove it, or add \(protocols)")
      ])
  }

  @Test func `is reported if the request of allocate creates the tus upload`() {
    expectWarnings(
      Self.put("protocol: tus, metadata: 1️⃣{ filename: a }"),
      [
        ExpectedWarning(
          mark: "1️⃣", code: .partSettings,
          message: "this has no effect, because the request of 'allocate' creates the upload",
          help: "remove it, or send the metadata with the request of 'allocate'")
      ])
  }

  @Test(arguments: ["creation: 1️⃣with_upload", "parallel_parts: 1️⃣4", "threshold: 1️⃣1MB"])
  func `is reported for a creation if the request of allocate creates the tus upload`(_ setting: String) {
    expectWarnings(
      Self.put("protocol: tus, \(setting)"),
      [
        ExpectedWarning(
          mark: "1️⃣", code: .partSettings,
          message: "this has no effect, because the request of 'allocate' creates the upload",
          help: "remove it, or remove 'allocate', so that the transfer creates the upload")
      ])
  }

  @Test(arguments: [
    (
      "threshold: 1️⃣1MB", "this has no effect, because the file is one part",
      "remove it, or add 'parallel_parts'"
    ),
    (
      "parallel_parts: 1, threshold: 1️⃣1MB", "this has no effect, because the file is one part",
      "remove it, or add 'parallel_parts'"
    ),
    (
      "parallel_parts: 2, creation: 1️⃣with_upload",
      "this has no effect, because 'parallel_parts' creates the partial uploads without bytes",
      "remove it, or remove 'parallel_parts'"
    ),
  ])
  func `is reported with or without partial uploads of tus`(
    _ settings: String, _ message: String, _ help: String
  ) {
    expectWarnings(
      Self.tus(settings), [ExpectedWarning(mark: "1️⃣", code: .partSettings, message: message, help: help)])
  }

  @Test func `is not reported for partial uploads of tus`() {
    expectWarnings(
      Self.tus("parallel_parts: 2, threshold: 1MB, chunk_size: 1MB, metadata: { filename: a }"), [])
  }

  @Test(arguments: ["1MB", "100KiB", "1B", "255KiB"])
  func `is reported for a size that Google and Microsoft reject`(_ size: String) {
    expectWarnings(
      Self.put("protocol: content_range, chunk_size: 1️⃣\(size)"),
      [
        ExpectedWarning(
          mark: "1️⃣", code: .partSettings,
          message:
            "servers may reject parts of this size: Google requires multiples of 256 KiB, and Microsoft multiples of 320 KiB",
          help: "write a multiple of both, such as 10MiB")
      ])
  }

  @Test(arguments: ["256KiB", "320KiB", "10MiB", "8MiB"])
  func `is not reported for other sizes`(_ size: String) {
    expectWarnings(Self.put("protocol: content_range, chunk_size: \(size), offset_query: head"), [])
  }

  @Test func `is not reported for the registries of container images`() {
    expectWarnings(
      Self.text("protocol: content_range, chunk_size: 1MB").replacing("METHOD ", with: "method: PATCH, "), [])
  }

  private static func fetch(_ keys: String, connections: Int = 6) -> String {
    """
    version: 1
    name: a
    sessions: { one: { max_connections_per_host: \(connections) } }
    fetches:
      f: { session: one, save_to: f, segments: 1️⃣4, \(keys) }
    """
  }

  @Test(arguments: [
    ("request: { method: POST, url: https://a.example/ }", "only a GET can request a range"),
    (
      "request: { url: https://a.example/, headers: { Range: bytes=0-9 } }",
      "the request has the header field 'Range'"
    ),
    (
      "request: { url: https://a.example/, headers: { if-match: '*' } }",
      "the request has the header field 'if-match'"
    ),
    (
      "request: { url: https://a.example/ }, expect: { header: { ETag: '*' } }",
      "'expect: { header: … }' is checked in a response with the whole file"
    ),
    (
      "request: { url: https://a.example/ }, checksum: { header: Content-MD5 }",
      "'checksum: { header: Content-MD5 }' describes a response with the whole file"
    ),
  ])
  func `is reported for segments whose requests cannot ask for a range`(_ keys: String, _ reason: String) {
    expectWarnings(
      Self.fetch(keys),
      [
        ExpectedWarning(
          mark: "1️⃣", code: .partSettings, message: "this has no effect, because \(reason)", help: "remove it")
      ])
  }

  @Test func `is reported for more segments than the session has connections`() {
    expectWarnings(
      Self.fetch("request: { url: https://a.example/ }", connections: 3),
      [
        ExpectedWarning(
          mark: "1️⃣", code: .partSettings, message: "the session allows only 3 connections to a host",
          help: "increase 'max_connections_per_host' of the session, or write 'segments: 3'")
      ])
    expectWarnings(Self.fetch("request: { url: https://a.example/ }"), [])
  }
}
