extension Upload.Allocate {
  static let shape = ObjectSchema<Self>(
    "Allocate", doc: "The step that requests an upload ID, as late as the queue allows.",
    keys: [
      .stepSession(\.session),
      .stepToken(\.token),
      .request(\.request, RequestTemplate.changingShape),
      .stepSign(\.request.sign),
      .stepAuth(\.request.auth),
      .expect(\.expect),
      .capture(
        \.capture, for: "references such as `${allocate.NAME}`", example: "{ upload_id: { json: /id } }"),
      .decompress(\.request.decompress),
      Key(
        "valid_for", \.validFor, .duration(atLeast: .milliseconds(1)), default: "unlimited",
        doc: "How long an ID is valid after the response that allocated it.", example: "1h"),
      Key(
        "renew_on", \.renewOn, .list(.integer(400...499), atLeastOne: true),
        default: "404, 410, and responses that show that the ID has expired",
        doc: """
          Additional statuses of a transfer or commit after which a new ID is allocated and the file starts \
          over. Without this key, a 403 has this meaning if `valid_for` or an expiry set by the server has \
          passed, or if the response \
          is an S3 error document that reports this (`ExpiredToken`, or `AccessDenied` with `Request has expired`).
          """,
        example: "[403]"),
    ],
    blank: { _, _ in Self(request: RequestTemplate(url: Template([]))) },
    place: { outer, _ in outer.entering(.allocate) })
}

extension Upload.Transfer {
  static let shape = ObjectSchema<Self>(
    "Transfer", doc: "The step that sends the bytes of a file.",
    keys: [
      Key(
        "protocol", \.protocol,
        .choice(),
        doc: """
          `put`, `post`: one request, whose body is the file. `multipart_form`: a form that contains the file \
          (RFC 7578). `content_range`, `tus`, `resumable` (the IETF draft), `s3_multipart`: in parts, so that an \
          interrupted upload can resume. `content_range` sends the parts to the upload session that `allocate` \
          has created on the server. `tus` creates the upload at the URL of the request, unless the upload has an `allocate` \
          step. `resumable` sends the request like `put` or `post`, and continues it at the URL that the server assigns, if \
          it assigns one. `s3_multipart` creates, completes and aborts the upload of an object at the URL of the request.
          """,
        example: "put"),
      Key(
        "chunk_size", \.chunkSize, .size,
        default:
          "`content_range`: 10MiB; `tus` and `resumable`: the rest of the file in one request; with `checksum`, 10MiB",
        doc: """
          For `content_range`, `tus` and `resumable`: the maximum number of bytes in each request. Google accepts multiples of 256 KiB, and \
          Microsoft multiples of 320 KiB; only the last part may have another size.
          """,
        example: "8MiB"),
      Key(
        "interop_version", \.interopVersion, .integer(3...8), default: "6",
        doc: """
          For `resumable`: the value of `Upload-Draft-Interop-Version`. A server that implements a different \
          version of the draft treats the upload as a plain one. 6 stands for drafts 04 and 05, and 8 for \
          drafts 09 and later.
          """,
        example: "8"),
      Key(
        "offset_query", \.offsetQuery, .choice(), default: "`put`; `get` if the method is PATCH",
        doc: """
          For `content_range`: the request that asks the server after an interruption how many bytes it has. \
          `put`: without \
          a body, with `Content-Range: bytes */SIZE` (Google). `get`: a GET of the session's URL (Microsoft, OCI registries). \
          `head`: a HEAD of the session's URL.
          """,
        example: "get"),
      Key(
        "part_size", \.partSize, .size, default: "8MiB",
        doc: """
          For `s3_multipart`: the size of each part except the last one. The size is increased for files that would have more than 10,000 parts. \
          Amazon S3 accepts 5 MiB to 5 GiB.
          """,
        example: "64MiB"),
      Key(
        "threshold", \.threshold, .size, default: "16MiB",
        doc: """
          For `s3_multipart`: the minimum size of a file sent in parts. A smaller file is sent in a single PUT. For `tus` \
          with `parallel_parts`: the minimum size of a file sent in more than one part.
          """,
        example: "100MiB"),
      Key(
        "parallel_parts", \.parallelParts, .integer(1...100), default: "`s3_multipart`: 4; `tus`: 1",
        doc: """
          For `s3_multipart` and `tus`: the maximum number of parts of one file that are sent at the same time. Each uses \
          one of the session's connections (`max_connections_per_host`). For `tus`, it is also the number of parts: each is \
          a partial upload, and a final request concatenates them (the concatenation extension, which the \
          server must implement).
          """,
        example: "8"),
      Key(
        "creation", \.creation, .choice(), default: "empty",
        doc: """
          For `tus`: the content of the request that creates the upload. `empty`: no bytes of the file. \
          `with_upload`: its first bytes, at most `chunk_size` (the creation-with-upload extension), so that \
          a small file needs only one request. If the response is lost, the server may keep an upload that \
          is unknown to ferry, even a complete one.
          """,
        example: "with_upload"),
      Key(
        "metadata", \.metadata, .metadata, default: "none",
        doc: "For `tus`: the pairs of `Upload-Metadata`. ferry sends the values in Base64.",
        example: "{ filename: \"${file.name}\" }"),
      Key(
        "checksum", \.checksum, .choice(), default: "none",
        doc: """
          For `tus` and `s3_multipart`: the algorithm of the checksum that is sent with each part (`Upload-Checksum`, \
          `x-amz-checksum-…`), if the server supports it. ferry reads each part twice: to compute the checksum, and to \
          send it. A part that arrives damaged is sent again after a delay.
          """,
        example: "sha1"),
      .stepToken(\.token),
      .request(\.request, RequestTemplate.transferShape, doc: "The request; its body is the file."),
      .stepSign(\.request.sign),
      .stepAuth(\.request.auth),
      Key(
        "form", \.form, .object(MultipartForm.shape),
        default: "only for `multipart_form`",
        doc:
          "The form that contains the file. Without this key, the file is the only part, with the defaults of `form.file`.",
        example: "{ fields: { title: \"${file.stem}\" }, file: { field: photo, content_type: image/jpeg } }"),
      .expect(\.expect),
      .capture(
        \.capture,
        for: "references such as `${transfer.NAME}`; for example, a `Location` that changes at every step",
        example: "{ location: { header: Location } }"),
      .decompress(\.request.decompress),
    ],
    blank: { _, _ in Self(request: RequestTemplate(url: Template([]))) },
    place: { outer, _ in outer.entering(.transfer) },
    finish: { transfer, node, decoder in
      if node["request"]?["method"] == nil { transfer.request.method = transfer.protocol.method }
      transfer.finishForm(node, &decoder)
    })

  private var form: MultipartForm? {
    get { if case .multipart(let form) = request.body { form } else { nil } }
    set { if let newValue { request.body = .multipart(newValue) } }
  }

  private mutating func finishForm(_ node: YAMLNode, _ decoder: inout ManifestDecoder) {
    guard `protocol` == .multipartForm else { return reportIdleForm(node, &decoder) }
    if form == nil { form = MultipartForm() }
    for header in node["request"]?["headers"]?.members ?? []
    where header.key.value.lowercased() == "content-type" {
      decoder.report(
        .ownHeader, at: header.key.location,
        "\(header.key.value.quoted) is set by ferry in a 'multipart_form' transfer",
        help: "remove it; it contains the boundary, which differs in every attempt. The type of the file is "
          + "'form: { file: { content_type: … } }'")
    }
  }

  /// Reports a `form` that the protocol does not send.
  private func reportIdleForm(_ node: YAMLNode, _ decoder: inout ManifestDecoder) {
    guard let members = node.members, let form = members.first(where: { $0.key.value == "form" }) else {
      return
    }
    let isMisspelt = members.contains { decoder.nearest(to: $0.key.value, among: ["protocol"]) != nil }
    // A word that is not a protocol has already been reported.
    let isWrong = node["protocol"].map { $0.scalar?.text != `protocol`.rawValue } ?? isMisspelt
    guard !isWrong else { return }
    decoder.report(
      .keyWithoutOther, at: form.key.location, "'form' is valid only with 'protocol: multipart_form'",
      help: node["protocol"] == nil
        ? "add 'protocol: multipart_form', or remove 'form'"
        : "write 'protocol: multipart_form', or remove 'form'")
  }
}

extension Upload.Commit {
  static let shape = ObjectSchema<Self>(
    "Commit",
    doc:
      "The request that completes an upload. If its response was lost, it is repeated only if `already_done`, `idempotency_key` or `probe` is set.",
    keys: [
      .stepSession(\.session),
      .stepToken(\.token),
      .request(\.request, RequestTemplate.changingShape),
      .stepSign(\.request.sign),
      .stepAuth(\.request.auth),
      .expect(\.expect),
      Key(
        "already_done", \.alreadyDone,
        ValueKind<AlreadyDone>.object(AlreadyDone.shape).map(
          to: { $0.status }, from: { AlreadyDone(status: $0) }), default: "none",
        doc: "The response to a commit that has already been executed.", example: "{ status: [409] }"),
      .idempotencyKey(
        \.idempotencyHeader, doc: "A header field that identifies a repeated commit to the server."),
      Key(
        "probe", \.probe, .object(Probe.shape), default: "none",
        doc: """
          A request that asks whether the commit was executed. It is sent if the response to the commit was lost, with \
          the commit's session, token and signature.
          """),
    ],
    blank: { _, _ in Self(request: RequestTemplate(url: Template([]))) },
    place: { outer, _ in outer.entering(.commit) },
    // A probe has the credentials of its commit.
    finish: { commit, _, _ in
      commit.probe?.request.sign = commit.request.sign
      commit.probe?.request.auth = commit.request.auth
    })

  /// `already_done` as written in the manifest.
  private struct AlreadyDone {
    var status: [Int]

    static let shape = ObjectSchema<Self>(
      "Already done", doc: "The response to a commit that has already been executed.",
      keys: [
        Key(
          "status", \.status, .list(.status, atLeastOne: true), isRequired: true,
          doc: "The status codes of the response to a commit that has already been executed.",
          example: "[409]")
      ],
      blank: { _, _ in Self(status: []) })
  }
}

extension Upload.Commit.Probe {
  static let shape = ObjectSchema<Self>(
    "Probe", doc: "A request that asks whether a commit was executed.",
    keys: [
      .request(\.request),
      .expect(
        \.expect,
        doc: """
          The conditions that a response must meet to confirm the commit. Any other response that is not \
          retried means that the commit was not executed, except 401, 403 and 407, which leave its outcome \
          unknown.
          """),
    ],
    blank: { _, _ in Self(request: RequestTemplate(url: Template([]))) })
}

extension Upload.Abandon {
  static let shape = ObjectSchema<Self>(
    "Abandon",
    doc: """
      The request that releases an unused upload ID. Any 2xx, 404 or 410 means that the ID is released. The next run \
      repeats a failed request; such a failure does not change the exit code.
      """,
    keys: [
      .stepSession(\.session),
      .stepToken(\.token),
      .request(\.request, RequestTemplate.deletingShape),
      .stepSign(\.request.sign),
      .stepAuth(\.request.auth),
      .expect(\.expect),
    ],
    blank: { _, _ in Self(request: RequestTemplate(url: Template([]))) },
    place: { outer, _ in outer.entering(.abandon) })
}
