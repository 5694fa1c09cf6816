import FerryManifest

extension RunRecord {
  package struct ItemRecord: Codable, Sendable {
    /// The name of the manifest; absent if the run has only one.
    package var manifest: String?
    package var node: String
    package var path: String
    /// The bytes of the path in Base64, if the path is not valid UTF-8.
    package var pathBase64: String?
    package var size: Int64
    /// `done`, `failed`, `ambiguous`, `cancelled`, `waiting`.
    package var state: ReportState
    package var reason: RecordedFailure?
    package var attempts: [AttemptRecord]
    /// The details of an item whose outcome is ambiguous.
    package var ambiguity: Ambiguity?
    /// The time at which the run began the item; absent if it did not.
    package var startedAt: String?
    /// The time at which the item ended in the run.
    package var endedAt: String?
    package var durationSeconds: Double?
    /// The number of requests that were made for the item and have ended, successfully or not.
    package var requests: Int?
    /// The digest of the file, in lowercase hexadecimal, if the run computed it.
    package var sha256: String?

    package init(
      manifest: String? = nil, node: String, path: some Collection<UInt8>, size: Int64, state: ReportState,
      reason: RecordedFailure? = nil, attempts: [AttemptRecord] = [], span: ItemSpan? = nil
    ) {
      self.manifest = manifest
      self.node = node
      self.path = String(decoding: path, as: UTF8.self)
      pathBase64 = DisplayPath.base64(path)
      self.size = size
      self.state = state
      self.reason = reason
      self.attempts = attempts
      guard let span else { return }
      startedAt = span.begunAt.rfc3339
      endedAt = span.endedAt.rfc3339
      durationSeconds = span.begunAt.duration(to: span.endedAt).roundedSeconds
      requests = Int(span.requests)
    }
  }

  /// A failed attempt.
  package struct AttemptRecord: Codable, Sendable {
    package var step: Step.Kind
    package var code: FailureCode
    package var status: Int?
    package var message: String
    package var endedAt: String
    package var durationSeconds: Double
    /// The method and the URL of the request, as in `FailureDetail`.
    package var method: String?
    package var url: String?
    package var proxy: String?
    package var reasonPhrase: String?
    package var body: String?

    package var detail: FailureDetail? {
      let detail = FailureDetail(
        method: method, url: url, proxy: proxy, reasonPhrase: reasonPhrase, body: body)
      return detail == FailureDetail() ? nil : detail
    }

    init(_ attemptFailure: AttemptFailure) {
      step = attemptFailure.step
      code = attemptFailure.code
      status = attemptFailure.status
      message = attemptFailure.message
      endedAt = attemptFailure.endedAt.rfc3339
      durationSeconds = attemptFailure.duration.roundedSeconds
      method = attemptFailure.detail?.method
      url = attemptFailure.detail?.url
      proxy = attemptFailure.detail?.proxy
      reasonPhrase = attemptFailure.detail?.reasonPhrase
      body = attemptFailure.detail?.body
    }
  }
}

extension Duration {
  /// Seconds with a resolution of milliseconds.
  fileprivate var roundedSeconds: Double { (seconds * 1000).rounded() / 1000 }
}
