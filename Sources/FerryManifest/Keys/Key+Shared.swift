/// Keys that several mappings share.
extension Key {
  /// The session of a node.
  static func session(_ path: WritableKeyPath<Object, Located<String>> & Sendable, example: String = "quick")
    -> Self
  {
    Key(
      "session", path, .name(of: .session), isRequired: true,
      doc: "The session to which the node or token belongs.",
      example: example, remedy: { $0.missingSessionHelp(example: example) })
  }

  /// The session of a step.
  static func stepSession(_ path: WritableKeyPath<Object, Located<String>?> & Sendable) -> Self {
    Key(
      "session", path, .name(of: .session), default: "the upload's",
      doc: "The session that sends the step's request.",
      example: "quick")
  }

  /// The token of a node.
  static func token(_ path: WritableKeyPath<Object, Located<String>?> & Sendable) -> Self {
    Key(
      "token", path, .name(of: .token), default: "none", doc: "The token that the node's requests carry.",
      example: "login")
  }

  /// `token: none` of a step.
  static func stepToken(_ path: WritableKeyPath<Object, Upload.StepToken> & Sendable) -> Self {
    let kind = ValueKind<Upload.StepToken>(.choice(["none"])) { node, decoder in
      guard let text = decoder.constant(node, wanted: "none") else { return nil }
      if text == "none" { return Upload.StepToken.none }
      decoder.report(
        .stepToken, at: node.location, "a step's 'token' can only be 'none'",
        help:
          "the steps of an upload use its token; set it on the upload: 'token: \(node.scalar?.text.clipped ?? text)'"
      )
      return nil
    }
    return Key(
      "token", path, kind, default: "the upload's",
      doc: "`none` omits the upload's token, for example for a presigned URL on another host.",
      example: "none")
  }

  /// `sign` of a session.
  static func sign(_ path: WritableKeyPath<Object, RequestSigning?> & Sendable) -> Self {
    Key(
      "sign", path, .object(RequestSigning.shape), default: "none",
      doc: "The signature of every request in the session, unless the request specifies its own.",
      example: "{ aws_v4: { region: eu-central-1 } }")
  }

  /// `sign` next to a request.
  static func stepSign(_ path: WritableKeyPath<Object, RequestSigning?> & Sendable) -> Self {
    Key(
      "sign", path, .wordOr("none", meaning: .off, .object(RequestSigning.shape)), default: "the session's",
      doc:
        "The signature of the request. `none` omits the session's signature, for example for a presigned URL.",
      example: "{ aws_v4: { region: eu-central-1 } }")
  }

  static func needs(
    _ path: WritableKeyPath<Object, [Located<String>]> & Sendable, example: String = "[photos]"
  ) -> Self {
    Key(
      "needs", path, .list(.name(of: .needs)), default: "none",
      doc: "The uploads, fetches and requests that must complete first.", example: example)
  }

  /// Creates several nodes from one declaration.
  static var forEach: Self {
    Key(
      "for_each", readBefore: ValueKind<ForEach>.forEach,
      doc: """
        Creates one instance, `NAME[KEY]`, for each element of a list or mapping. `${each.key}` is the key, and \
        `${each.value}` its value in a mapping, or `${each.value.FIELD}` if that value is itself a mapping.
        """,
      example: "[eu, us]")
  }

  static func request(
    _ path: WritableKeyPath<Object, RequestTemplate> & Sendable,
    _ shape: ObjectSchema<RequestTemplate> = RequestTemplate.shape, doc: String = "The request."
  ) -> Self {
    Key("request", path, .object(shape), isRequired: true, doc: doc)
  }

  /// The request of an object in which another key can replace `request`.
  static func optionalRequest(_ path: WritableKeyPath<Object, RequestTemplate> & Sendable) -> Self {
    Key("request", path, .object(RequestTemplate.shape), default: "none", doc: "The request.")
  }

  static func expect(
    _ path: WritableKeyPath<Object, Expectation> & Sendable,
    default fallback: Fallback = "any 2xx",
    doc: String = "The conditions that a response must meet to count as a success."
  ) -> Self {
    Key("expect", path, .object(Expectation.shape), default: fallback, doc: doc)
  }

  /// - Parameter use: the steps that can refer to the captures.
  static func capture(
    _ path: WritableKeyPath<Object, [Capture]> & Sendable, for use: String, example: String
  ) -> Self {
    Key(
      "capture", path, .named(Capture.shape), default: "none",
      doc: "The values to capture from the response, for \(use).",
      example: example)
  }

  static func retry(_ path: WritableKeyPath<Object, RetryPolicy> & Sendable) -> Self {
    Key(
      "retry", path, .object(RetryPolicy.shape), default: .itsKeys,
      doc: "The number of retries and the delays between them.")
  }

  /// Whether the response to a step is requested in compressed form.
  static func decompress(_ path: WritableKeyPath<Object, Bool> & Sendable) -> Self {
    Key(
      "decompress", path, .boolean,
      doc: """
        Whether the response may be compressed (`Accept-Encoding: gzip, deflate`). It is decompressed before `expect` and \
        `capture` read it, to at most 1 MiB.
        """,
      example: "true")
  }

  /// Whether a request may be sent again although an earlier attempt may have been executed.
  static func repeatable(_ path: WritableKeyPath<Object, Bool> & Sendable) -> Self {
    Key(
      "repeatable", path, .boolean,
      doc: """
        Whether the request is sent again if its response was lost, or a 5xx status leaves open whether it was executed. \
        The server may then execute it twice. GET, HEAD, PUT, DELETE and OPTIONS are always repeatable.
        """,
      example: "true")
  }

  /// The header field that identifies a repeated request.
  static func idempotencyKey(_ path: WritableKeyPath<Object, String?> & Sendable, doc: String) -> Self {
    Key(
      "idempotency_key", path,
      ValueKind<IdempotencyKey>.object(IdempotencyKey.shape).map(
        to: { $0.header }, from: { IdempotencyKey(header: $0) }), default: "none", doc: doc,
      example: "{ header: Idempotency-Key }")
  }
}

/// `idempotency_key` as written in the manifest.
private struct IdempotencyKey {
  var header: String

  static let shape = ObjectSchema<Self>(
    "Idempotency key", doc: "A key that is the same for every attempt of one request, even after a restart.",
    keys: [
      Key(
        "header", \.header, .headerName(isSet: true), isRequired: true,
        doc: "The header field that carries the key.", example: "Idempotency-Key")
    ],
    blank: { _, _ in Self(header: "") })
}

extension ValueKind where Value == OriginPattern {
  /// An origin, such as `https://api.example.com` or `https://*.example.com:8443`.
  static var originPattern: Self {
    let text = ValueKind<String>.constant("origin")
    return Self(text.form, text: { text.text($0.description) }) { node, decoder in
      guard let written = text.decode(node, &decoder) else { return nil }
      if let pattern = OriginPattern(written) { return pattern }
      decoder.reportOfValue(
        Problem(
          .invalidURL, "this is not an origin",
          help:
            "write a scheme and a host, such as https://api.example.com or https://*.example.com:8443, without a path"
        ),
        at: node.location)
      return nil
    }
  }
}
