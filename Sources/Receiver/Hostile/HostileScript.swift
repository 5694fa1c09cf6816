/// Writes the script of one hostile response to one request.
struct HostileScript {
  /// A body with the values that the requests of a manifest usually capture, so that a hostile response can
  /// be a successful one.
  static let document =
    #"{"id":"hostile","access_token":"hostile","token_type":"Bearer","expires_in":3600,"items":[]}"#
  /// The entity tag of every response with a valid entity tag.
  static let entityTag = "\"hostile\""

  let response: HostileResponse
  let status: Int
  let location: String?
  let size: Int
  let interval: Duration
  let cut: Fault.Cut
  /// The request's target, such as `/catalog.json?a=b`.
  let target: String
  /// The request's `Host` field: the name that the client uses for the receiver.
  let host: String

  /// - Parameter fault: a validated fault, so that every missing setting has a default.
  init(_ response: HostileResponse, of fault: Fault, target: String, host: String) {
    self.response = response
    self.target = target
    self.host = host
    let defaults = response.settings
    status = fault.status ?? defaults.status ?? 200
    location = fault.location
    size = fault.size ?? defaults.size ?? 0
    interval = .seconds(fault.interval ?? defaults.interval ?? 0)
    cut = fault.cut ?? .close
  }

  /// The response's bytes.
  var script: ResponseScript {
    switch response {
    case .redirect: redirect(to: location)
    case .redirectLoop: redirect(to: target)
    case .redirectToFileScheme: redirect(to: "file:///etc/passwd")
    case .redirectToUserinfo: redirect(to: Self.withUserinfo(location ?? here))
    case .duplicateLocation: redirect(to: here, location ?? "http://127.0.0.1:1/")
    case .foreignURL: foreignURL
    case .locationOfRequest:
      whole("Location: \(target)", "Upload-Offset: 0", "Upload-Complete: ?0")

    case .partialContent: partialContent
    case .notModified, .noContent: bodyless
    case .resetContent: whole(tag, body: "")
    case .otherStatus: otherStatus

    case .etagControlCharacter: whole("ETag: \"a\u{1}b\u{7f}\"")
    case .etagNotASCII: entityTag { $0.add([0xff, 0xfe, 0xc3, 0x28]) }
    case .etagFolded: whole("ETag: \"folded\r\n  tag\"")
    case .etagLong: entityTag { $0.add("0123456789abcdef", size: max(0, size - 2)) }
    case .lastModifiedControlCharacter: whole("Last-Modified: Sun, 06 Nov 1994\u{1} 08:49:37 GMT")

    case .cutInStatusLine: cutOff("HTTP/1.1 \(status / 10)")
    case .cutAfterStatusLine: cutOff(statusLine)
    case .cutInHeaderLine: cutOff("\(linesWithoutEnd)Content-Le")
    case .cutInHeader: cutOff(linesWithoutEnd)
    case .cutAfterEarlyHints: cutOff(Self.earlyHint)
    case .cutInHeaderAfterEarlyHints: cutOff(Self.earlyHint + linesWithoutEnd)
    case .cutInBody: cutOff(head(tag, "Content-Length: 1000") + String(repeating: "0123456789", count: 10))
    case .cutInChunk: cutOff("\(chunked)3e8\r\n\(String(repeating: "a", count: 100))")
    case .cutBeforeLastChunk: cutOff(chunked + chunk(Self.document))

    case .silence: ResponseScript(ending: .hold)
    case .drip: drip
    case .dripHeader: endless(after: "\(statusLine)X-Hostile: ", "a")

    case .endlessHeader: endless(after: statusLine, Self.headerLine)
    case .manyHeaders: manyHeaders
    case .longHeaderLine: filled("\(statusLine)X-Hostile: ")
    case .longReasonPhrase: filled("HTTP/1.1 \(status) ")
    case .earlyHints: earlyHints
    case .earlyHintsFlood: endless(after: "", Self.earlyHint)
    case .uploadResumptionFlood: endless(after: "", Self.uploadResumption)
    case .endlessBody: endless(after: chunked, chunk(String(repeating: "a", count: 4096)))
    case .tinyChunks: endless(after: chunked, chunk("a"))
    case .endlessChunkExtension: endless(after: "\(chunked)1;a=", "a")
    case .endlessTrailer: endless(after: "\(chunked)\(chunk("a"))0\r\n", Self.headerLine)

    case .contentEncodingGzip: contentEncoded(GzipBytes.stored(Array(Self.document.utf8)))
    case .contentEncodingNotGzip: contentEncoded(Array(Self.document.utf8))
    case .transferEncodingGzip: transferEncoded("gzip, chunked", GzipBytes.stored(Array(Self.document.utf8)))
    case .transferEncodingNotGzip: transferEncoded("gzip, chunked", Array(Self.document.utf8))
    case .transferEncodingUnknown: transferEncoded("hostile, chunked", Array(Self.document.utf8))
    case .gzipBomb: gzipBomb
    case .transferEncodingGzipBomb: transferEncodedGzipBomb

    case .wrongContentLength: documentAfter("Content-Length: \(Self.document.utf8.count / 2)")
    case .conflictingContentLengths:
      documentAfter(
        "Content-Length: \(Self.document.utf8.count / 2)", "Content-Length: \(Self.document.utf8.count)")
    case .contentLengthAndChunked:
      transferEncoded("chunked", Array(Self.document.utf8), "Content-Length: 5")
    case .malformedContentLength: documentAfter("Content-Length: -1")
    case .hugeContentLength: hugeContentLength
    case .closeDelimited: documentAfter()
    case .secondResponse: secondResponse
    case .lateResponse: lateResponse
    case .http09: ResponseScript("<html>no status line</html>\n")
    case .garbage: garbage

    case .digits: body("text/plain", filled("", "0123456789", unit: 1, ""))
    case .nestedJSON:
      body("application/json", [.filler("[", max(1, size / 2)), .filler("]", max(1, size / 2))])
    case .nestedXML: body("application/xml", filled("", "<a>", unit: 3, ""))
    case .manyValuesJSON: body("application/json", filled("[", "0,", unit: 2, "0]"))
    case .manyKeysJSON: body("application/json", numberedKeys)
    case .hugeNumberJSON:
      body("application/json", twice(#"{"id":"#, "1", #","access_token":"#, #","expires_in":3600}"#))
    case .hugeCapture:
      body("application/json", twice(#"{"id":""#, "a", #"","access_token":""#, #"","expires_in":3600}"#))
    }
  }

  var statusLine: String { "HTTP/1.1 \(status) Hostile\r\n" }

  /// A status line and a header section. The connection is not reused, so that a test sees each response
  /// separately.
  func head(_ fields: String...) -> String { head(fields) }

  func head(_ fields: [String]) -> String {
    statusLine + fields.map { "\($0)\r\n" }.joined() + "Connection: close\r\n\r\n"
  }

  /// A complete response with a length.
  func whole(_ fields: String..., body: String = document) -> ResponseScript {
    var script = ResponseScript()
    script.add(head(["Content-Length: \(body.utf8.count)"] + fields) + body)
    return script
  }

  /// Like ``whole(_:body:)`` with the usual document, but without adding a `Content-Length`.
  func documentAfter(_ fields: String...) -> ResponseScript {
    ResponseScript(head([tag] + fields) + Self.document)
  }

  /// A chunk of a chunked body.
  func chunk(_ bytes: [UInt8]) -> [UInt8] {
    Array("\(String(bytes.count, radix: 16))\r\n".utf8) + bytes + Array("\r\n".utf8)
  }

  func chunk(_ text: String) -> String { "\(String(text.utf8.count, radix: 16))\r\n\(text)\r\n" }

  var tag: String { "ETag: \(Self.entityTag)" }

  /// The head of a chunked response with an ETag.
  var chunked: String { head(tag, "Transfer-Encoding: chunked") }

  /// The remaining fields of a header section that has been begun, and the usual document.
  var rest: String {
    "Content-Length: \(Self.document.utf8.count)\r\nConnection: close\r\n\r\n\(Self.document)"
  }
}
