import FerryDigest
import FerryJournal
import FerryManifest
import FerryPlan
import FerryTransfer

/// The validators of each fetch, and the conditions of the requests that were sent with these validators (RFC
/// 9110, section 13).
struct FetchCache {
  /// The validators of the document in `save_to`, by node.
  private var records: [Int: FetchRecord]
  /// The condition with which a request was sent.
  private struct Sent {
    var url: String
    /// Whether a response can be fresh. Only responses to GET are used for later requests.
    var isGet: Bool
    var condition: FetchCondition
    /// Whether the condition was added to the request for a URL.
    var applies: @Sendable (String) -> Bool
    /// The file to which the condition applies.
    var file: FileVersion?
    /// What the document must match, in addition to the URL (`accepted(by:)`).
    var accepted: String
  }

  /// The conditions of sent requests, by attempt ID.
  private var sent: [UInt64: Sent] = [:]

  /// - Parameter records: by node, as journaled.
  init(_ records: [Int: FetchRecord]) { self.records = records }

  subscript(node: NodeID) -> FetchRecord? { records[node.index] }

  /// Makes a request conditional on the node's validators if `save_to` is still the file that they describe.
  ///
  /// The file may have been deleted, or an earlier run may have been killed after it replaced the file but before it
  /// recorded the change.
  ///
  /// - Parameter file: the current `save_to`; `nil` if the file does not exist.
  mutating func addCondition(
    to request: inout TransferRequest, of attempt: Attempt, _ policy: Session.CachePolicy, file: FileVersion?
  ) {
    let isConditional = !attempt.isUnconditional && policy != .reloadIgnoringLocal
    var record = isConditional ? records[attempt.ref.node.index] : nil
    if file == nil || record?.file.map({ $0 != file }) == true { record = nil }
    let condition = FetchCondition(request, record)
    let accepted = Self.accepted(by: request)
    // Another URL, or another representation of the document, has its own validators, which may have the
    // same text.
    let (url, source) = (request.url, record?.source)
    let applies: @Sendable (String) -> Bool = { candidate in
      source.map { $0 == Self.source(candidate, accepted) } ?? (candidate == url)
    }
    request.condition = condition.header.map { .init(field: $0, applies: applies) }
    sent[attempt.id] = Sent(
      url: url, isGet: request.method == "GET", condition: condition, applies: applies, file: file,
      accepted: accepted)
  }

  /// The condition of the request that received a response; `nil` if the attempt is not a fetch.
  func condition(of attempt: UInt64, at url: String?) -> FetchCondition? {
    guard let sent = sent[attempt] else { return nil }
    if let url, sent.condition.header != nil, !sent.applies(url) { return .absent }
    return sent.condition
  }

  /// Drops the condition of a completed attempt.
  mutating func forget(_ attempt: UInt64) { sent[attempt] = nil }

  /// The fields of a request that select a representation of the document, and the checksum that it must have.
  private static func accepted(by request: TransferRequest) -> String {
    let fields = request.headers.filter { $0.name.lowercased().hasPrefix("accept") }
      .map { "\($0.name.lowercased()): \($0.value)\n" }.sorted().joined()
    // A stored document counts only for the checksum that was compared with it.
    return switch request.checksum {
    case .digest(let algorithm, let digest): fields + "checksum: \(algorithm) \(Hexadecimal.text(digest))\n"
    case .field(let name): fields + "checksum: header \(name.lowercased())\n"
    case nil: fields
    }
  }

  /// Identifies a document by a digest, because a URL may contain a secret.
  private static func source(_ url: String, _ accepted: String) -> String {
    Hexadecimal.text(SHA256.hash((url + "\n" + accepted).utf8).prefix(16))
  }

  /// Processes the response to a fetch. The validators change only together with the file that they describe.
  ///
  /// - Parameter masked: masks secrets. A validator that contains a secret is not kept, because it would be stored in
  ///   plain text.
  /// - Returns: the reason why the response does not match what the manifest expects; `nil` if it matches.
  mutating func take(
    _ response: TransferResponse, of attempt: Attempt, _ step: Step, _ reading: ResponseReading?,
    at now: Instant, masked: (String) -> String
  ) -> String? {
    guard step.kind == .fetch else {
      // The items of a download batch have no validators.
      return step.content(of: response.status) == .nothing ? reading?.mismatch?.message : response.refusal
    }
    let node = attempt.ref.node.index
    let old = records[node]
    let sent = sent[attempt.id]
    let unchanged = FetchRecord(
      etag: old?.etag, lastModified: old?.lastModified, fetchedAt: now, file: old?.file, source: old?.source,
      freshUntil: nil)
    switch step.content(of: response.status) {
    case .document:
      // The body was checked before it replaced the file, and is no longer available here.
      guard response.refusal == nil else { return response.refusal }
      records[node] = FetchRecord(
        etag: Validator.entityTag(of: response).flatMap { masked($0) == $0 ? $0 : nil },
        lastModified: Validator.lastModified(of: response, at: now), fetchedAt: now,
        file: response.storedFile,
        source: Self.source(response.url, sent?.accepted ?? ""),
        freshUntil: Self.freshUntil(response, to: sent, at: now))
    case .notModified:
      // `expect` was checked when the current document was received.
      records[node] = unchanged
      // A server that stated a lifetime with the document states it again (RFC 9110, section 15.4.5).
      records[node]?.freshUntil = Self.freshUntil(response, to: sent, at: now)
      // Older versions of ferry did not record the file.
      records[node]?.file = old?.file ?? sent?.file
    case .nothing:
      if let mismatch = reading?.mismatch { return mismatch.message }
      records[node] = unchanged
    case .unexpected: break
    }
    return nil
  }

  /// The time until which the server allows the document to be used without another request; `nil` if it must be
  /// validated. After a redirect, the redirect itself would have to be validated.
  private static func freshUntil(_ response: TransferResponse, to sent: Sent?, at now: Instant) -> Instant? {
    guard let sent, sent.isGet, sent.url == response.url else { return nil }
    let lifetime = Freshness.lifetime(of: response, at: now)
    return lifetime > .zero ? now.advanced(by: lifetime) : nil
  }
}
