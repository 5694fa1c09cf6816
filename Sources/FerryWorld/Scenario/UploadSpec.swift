/// One upload of a random manifest.
package struct UploadSpec: Hashable, Sendable {
  package enum Shape: String, Hashable, Sendable, CaseIterable {
    case put
    case post
    /// An upload ID, a transfer and a commit.
    case ids
    /// Like `ids`, but an interrupted transfer starts over with a new ID.
    case startsOver
    /// Like `ids`, but the response to a second commit is not recognized.
    case commitOnce
    /// An upload ID and a transfer, without a commit.
    case idsOnly
    /// An upload ID, a transfer and a commit, with a probe that reports whether the commit was executed.
    case probed
    /// Like `ids`, but the file is sent in parts.
    case parts
    /// Like `parts`, without a commit.
    case partsOnly
    /// Like `parts`, with the requests of an OCI registry.
    case patches
    /// A tus upload, which is created, sent in parts and terminated by steps that the protocol adds.
    case tus
    /// Like `tus`, but the first request of the transfer creates the upload and sends bytes.
    case tusCreation
    /// Like `tus`, but the parts of a file are partial uploads, which are sent at the same time and concatenated.
    case tusPartials
    /// An upload to S3: a small file in one request, and a larger file in numbered parts.
    case s3
    /// A resumable upload with POST, which a server may treat like `post`.
    case resumable
    /// Like `resumable`, with PUT.
    case resumablePut
    /// Like `resumable`, in parts.
    case resumableParts
    /// Like `idsOnly`, but the transfer must not be repeated.
    case idsPost
  }

  /// The server of the commit and its probe.
  package enum CommitHost: String, Hashable, Sendable, CaseIterable {
    /// The server of the other steps.
    case same
    case other
    /// A server that a capture of the token determines, and that the manifest therefore does not name; without a
    /// token, the same server as `other`.
    case captured
  }

  package var name: String
  package var shape = Shape.put
  package var commitHost = CommitHost.same
  /// The priority in hundredths.
  package var priority = 50
  package var maxItems: Int?
  package var maxBytes: Int64?
  package var usesQuick = false
  package var hasToken = false
  package var validForSeconds = 3600
  package var retries = 3
  package var isEveryRun = false
  /// The maximum number of parts of one file that are sent at the same time.
  package var parallelParts = 1
  /// Whether unused upload IDs are released.
  package var abandons = false
  package var needsOther: String?

  init(name: String) { self.name = name }

  /// Whether the batch receives its files. For the shape `put`, `usesQuick` has no other meaning. It
  /// determines the direction, because a further random choice would change every world.
  var isDownload: Bool { shape == .put && usesQuick }

  static func random(_ random: inout RandomSource, name: String, hasToken: Bool) -> UploadSpec {
    var spec = UploadSpec(name: name)
    spec.shape = random.one(of: Shape.allCases)
    spec.priority = random.one(of: [50, 50, 25, 75, 0, 100])
    if random.once(in: 3) { spec.maxItems = random.roll(1...4) }
    if random.once(in: 5) { spec.maxBytes = Int64(random.roll(1...4)) * 1_000_000 }
    spec.usesQuick = random.once(in: 2)
    spec.hasToken = hasToken && !random.once(in: 4)
    spec.validForSeconds = random.one(of: [3600, 60, 60, 5])
    spec.retries = random.one(of: [3, 3, 1, 0])
    spec.isEveryRun = random.once(in: 8)
    spec.abandons = random.once(in: 2)
    spec.parallelParts = random.one(of: [1, 2, 4])
    spec.commitHost = random.one(of: [.same, .same, .other, .captured])
    return spec
  }

  static func size(_ random: inout RandomSource) -> Int64 {
    random.one(of: [0, 10, 10, 1_000, 500_000, 1_000_000, 2_000_000, 4_000_000])
  }

  var yaml: String {
    var lines = ["  \(name):", "    session: up"]
    if isDownload {
      lines.append(
        """
            items: { file: list.json, json: "", url: "http://host/\(name)/${item.name}", \
        save_to: "files/${item.name}", size: "${item.size}" }
        """)
    } else {
      lines.append("    files: { root: . }")
    }
    if isDownload, parallelParts > 1 { lines.append("    segments: \(parallelParts)") }
    if hasToken { lines.append("    token: t") }
    if let needsOther { lines.append("    needs: [\(needsOther)]") }
    if priority != 50 { lines.append("    priority: \(Double(priority) / 100)") }
    if isEveryRun { lines.append("    deliver: every_run") }
    if retries != 5 { lines.append("    retry: { limit: \(retries) }") }
    let batch = [maxItems.map { "max_items: \($0)" }, maxBytes.map { "max_bytes: \($0)B" }].compactMap(\.self)
    if !batch.isEmpty { lines.append("    batch: { \(batch.joined(separator: ", ")) }") }
    let quick = usesQuick ? "session: quick, " : ""
    let url = "http://host/\(name)"
    switch shape {
    case .put where isDownload: break
    case .put: lines.append("    transfer: { request: { url: \"\(url)/${file.path}\" } }")
    case .post:
      lines.append("    transfer: { protocol: post, request: { url: \"\(url)/${file.path}\" } }")
    case .tus:
      lines.append("    transfer: { protocol: tus, chunk_size: 1MB, request: { url: \"\(url)\" } }")
    case .tusCreation:
      lines.append(
        "    transfer: { protocol: tus, creation: with_upload, chunk_size: 1MB, request: { url: \"\(url)\" } }"
      )
    case .tusPartials:
      let keys =
        "protocol: tus, chunk_size: 1MB, threshold: 1kB, parallel_parts: \(parallelParts + 1)"
      lines.append("    transfer: { \(keys), request: { url: \"\(url)\" } }")
    case .s3:
      let keys = "protocol: s3_multipart, part_size: 1MB, threshold: 1MB, parallel_parts: \(parallelParts)"
      lines.append("    transfer: { \(keys), request: { url: \"\(url)/${file.path}\" } }")
    case .resumable, .resumablePut, .resumableParts:
      let parts = shape == .resumableParts ? "chunk_size: 1MB, " : ""
      let method = shape == .resumablePut ? "PUT" : "POST"
      lines.append(
        "    transfer: { protocol: resumable, \(parts)request: { method: \(method), url: \"\(url)/${file.path}\" } }"
      )
    case .ids, .startsOver, .commitOnce, .idsOnly, .idsPost, .probed, .parts, .partsOnly, .patches:
      lines.append(
        """
            allocate: { \(quick)request: { method: POST, url: "\(url)" }, capture: { id: { json: /id } }, \
        valid_for: \(validForSeconds)s }
        """)
      let method =
        switch shape {
        case .startsOver, .patches: "PATCH"
        case .idsPost: "POST"
        default: "PUT"
        }
      let parts = sendsParts ? "protocol: content_range, chunk_size: 1MB, " : ""
      lines.append(
        "    transfer: { \(parts)request: { method: \(method), url: \"\(url)/${allocate.id}\" } }")
      if abandons {
        lines.append("    abandon: { \(quick)request: { method: DELETE, url: \"\(url)/${allocate.id}\" } }")
      }
      guard ![.idsOnly, .idsPost, .partsOnly].contains(shape) else { break }
      let already =
        switch shape {
        case .commitOnce: ""
        case .probed: ", probe: { request: { url: \"\(commitURL)/${allocate.id}\" } }"
        case .put, .post, .ids, .startsOver, .idsOnly, .idsPost, .parts, .partsOnly, .patches, .tus,
          .tusCreation,
          .tusPartials,
          .s3, .resumable,
          .resumablePut,
          .resumableParts:
          ", already_done: { status: [409] }"
        }
      lines.append(
        "    commit: { \(quick)request: { method: POST, url: \"\(commitURL)/${allocate.id}/c\" }\(already) }")
    }
    return lines.joined(separator: "\n") + "\n"
  }

  private var sendsParts: Bool {
    switch shape {
    case .parts, .partsOnly, .patches: true
    case .put, .post, .ids, .startsOver, .commitOnce, .idsOnly, .idsPost, .probed, .tus, .tusCreation,
      .tusPartials,
      .s3,
      .resumable,
      .resumablePut,
      .resumableParts:
      false
    }
  }

  private var commitURL: String {
    switch commitHost {
    case .same: "http://host/\(name)"
    case .captured where hasToken: "${token.base}/\(name)"
    case .other, .captured: "http://other/\(name)"
    }
  }
}
