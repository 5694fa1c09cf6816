import FerryPlan
import FerryReport
import FerryTransfer

/// `--trace`: the requests of an attempt as they were sent, with secrets masked.
extension ResponseInterpreter {
  /// The entries of an attempt that has ended. Called after its response was read, so that the secrets in the response
  /// are known.
  func trace(of outcome: TransferOutcome, _ attempt: Attempt, at now: Instant, _ scheduler: Scheduler)
    -> [HAREntry]
  {
    outcome.hops.map { hop in
      var entry = HAREntry(
        startedAt: now.advanced(by: .zero - hop.age), node: scheduler.plan.nodes[attempt.ref.node.index].name,
        step: attempt.step, method: hop.method, url: shown(hop.url) ?? "")
      let plan = scheduler.plan
      if plan.manifests.count > 1 {
        entry.manifest = plan.manifests[plan.nodes[attempt.ref.node.index].manifest.index]
      }
      entry.path = scheduler.path(of: attempt.ref).map(Array.init)
      entry.timings = HAREntry.Timings(hop)
      (entry.address, entry.localPort, entry.proxy) = (hop.address, hop.localPort, hop.proxy)
      entry.isConnectionReused = hop.phases.connection == .reused
      entry.failure = hop.failure.map { captures.masked($0.message) }
      // Read once, because each header field is searched for them.
      let hidden = hop.response.queryValues
      setRequest(of: hop, hiding: hidden, &entry)
      setResponse(of: hop, steps[attempt], hiding: hidden, &entry)
      return entry
    }
  }

  private func setRequest(of hop: TracedHop, hiding hidden: [[UInt8]], _ entry: inout HAREntry) {
    let head = RequestHead(hop.requestHead)
    if let version = head.version { entry.requestVersion = version }
    entry.requestFields = head.fields.map { ($0.name, shown($0.name, $0.value, of: hop, hiding: hidden)) }
    entry.requestHeadSize = Int64(hop.requestHead.count)
    entry.requestBodySize = hop.bodySent
    guard !hop.requestBody.isEmpty else { return }
    let type = head.fields.first { $0.name.isField(named: "Content-Type") }?.value
    guard ResponseExcerpt.isText(hop.requestBody, type: type) else { return }
    entry.requestBody = text(
      hop.requestBody, isCut: hop.requestBodySize > hop.requestBody.count, hiding: hidden)
  }

  private func setResponse(
    of hop: TracedHop, _ prepared: PreparedStep, hiding hidden: [[UInt8]], _ entry: inout HAREntry
  ) {
    guard hop.status > 0 else { return }
    let mayHaveUnknownSecret = mayHaveUnknownSecret(prepared, url: hop.url)
    entry.status = hop.status
    entry.responseVersion = hop.version
    let secrets = fieldsWithSecrets(prepared, status: hop.status)
    entry.responseFields = hop.headers.map { field in
      let isHidden = mayHaveUnknownSecret || secrets.contains { field.name.isField(named: $0) }
      return (
        captures.masked(field.name),
        isHidden ? "***" : shown(field.name, field.value, of: hop, hiding: hidden)
      )
    }
    entry.responseHeadSize = hop.headersReceived
    entry.responseBodySize = hop.bodySize
    entry.redirectURL = entry.responseFields.first { $0.name.lowercased() == "location" }?.value ?? ""
    guard !mayHaveUnknownSecret else { return }
    entry.reason = String(
      decoding: captures.maskedBeginning(
        ResponseExcerpt.reasonLimit, of: hop.reason, isCut: hop.isReasonCut, hiding: hidden),
      as: UTF8.self)
    if !hop.body.isEmpty, showsBody(hop.response, prepared) {
      entry.responseBody = text(hop.body, isCut: hop.isBodyCut, hiding: hidden)
    }
  }

  /// The names of the response's header fields whose values are secret. The values are not known if the response was not
  /// accepted.
  private func fieldsWithSecrets(_ prepared: PreparedStep, status: Int) -> [String] {
    var names = prepared.step.capture.compactMap { capture -> String? in
      guard capture.isSecret || prepared.kind == .token, case .header(let name) = capture.source else {
        return nil
      }
      return name
    }
    // The URL of an upload resource. That of a redirect is shown.
    if prepared.transferProtocol.machine != nil, !(300..<400).contains(status) { names.append("Location") }
    return names
  }

  private func text(_ bytes: [UInt8], isCut: Bool, hiding hidden: [[UInt8]]) -> HAREntry.Body {
    HAREntry.Body(
      text: String(
        decoding: captures.maskedBeginning(bytes.count, of: bytes, isCut: isCut, hiding: hidden),
        as: UTF8.self),
      isCut: isCut)
  }

  /// The value of a header field for display.
  private func shown(
    _ name: String, _ value: String, of hop: TracedHop, hiding hidden: [[UInt8]]
  ) -> String {
    let name = name.lowercased()
    if ["location", "content-location", "referer"].contains(name) { return shown(reference: value, of: hop) }
    guard Self.confidentialNames.contains(where: name.contains) else {
      return captures.masked(value, hiding: hidden)
    }
    let scheme = value.prefix { $0 != " " }
    return Self.schemes.contains(scheme.lowercased()) && scheme.utf8.count < value.utf8.count
      ? "\(scheme) ***" : "***"
  }

  /// A reference to a resource for display: the resolved URL if it contains a secret, because the secrets of captures
  /// are resolved URLs, whose paths may be too short to be masked alone.
  private func shown(reference: String, of hop: TracedHop) -> String {
    guard reference.utf8.count <= Self.longestURL else { return "" }
    var base = URLReference(hop.url)
    base.removeUserinfo()
    let url = URLReference(reference).resolved(against: base).description
    return shown(captures.masked(url) == url ? reference : url) ?? ""
  }

  /// A field whose name contains one of these strings usually has a secret value, even if the value is not a known
  /// secret.
  private static let confidentialNames = [
    "auth", "cookie", "token", "secret", "password", "credential", "signature", "session", "api-key",
    "apikey", "access-key", "customer-key", "encryption-key",
  ]

  /// The authentication schemes that are shown.
  private static let schemes = ["basic", "bearer", "digest", "negotiate", "ntlm", "aws4-hmac-sha256"]
}

/// The request line and header fields that libcurl sent, without a last line that is cut: a part of a secret would not be
/// recognized in it.
private struct RequestHead {
  var version: String?
  var fields: [(name: String, value: String)] = []

  init(_ bytes: [UInt8]) {
    let end = bytes.lastIndex(of: UInt8(ascii: "\n")) ?? 0
    let lines = bytes[..<end].split(separator: UInt8(ascii: "\n")).map { line in
      line.last == UInt8(ascii: "\r") ? line.dropLast() : line
    }
    version = lines.first?.split(separator: UInt8(ascii: " ")).last.map {
      String(decoding: $0, as: UTF8.self)
    }
    for line in lines.dropFirst() {
      guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { continue }
      let value = line[colon...].dropFirst().drop { $0 == UInt8(ascii: " ") }
      fields.append((String(decoding: line[..<colon], as: UTF8.self), String(decoding: value, as: UTF8.self)))
    }
  }
}

extension HAREntry.Timings {
  init(_ hop: TracedHop) {
    self.init()
    let phases = hop.phases
    if phases.connection == .new {
      dns = phases.nameResolution
      connect = phases.connect
      if phases.tls > .zero { tls = phases.tls }
    }
    let before = (dns ?? .zero) + (connect ?? .zero) + (tls ?? .zero)
    guard let start = hop.sentAfter else {
      blocked = max(.zero, hop.total - before)
      return
    }
    blocked = max(.zero, start - before)
    let first = phases.firstByte ?? max(.zero, hop.total - start)
    // A server may respond before it has received the whole request.
    send = min(hop.send ?? .zero, first)
    wait = first - send
    receive = max(.zero, hop.total - start - first)
  }
}
