import FerryPlan

/// One request and its response, as an entry of an HTTP Archive (HAR 1.2).
///
/// Secrets are masked before an entry is made. Keys that begin with `_` are extensions, which the format permits.
package struct HAREntry: Sendable {
  /// A body, or its beginning.
  package struct Body: Sendable {
    package var text: String
    package var isCut: Bool

    package init(text: String, isCut: Bool) { (self.text, self.isCut) = (text, isCut) }
  }

  /// The durations of a request's phases; `nil` for a phase that did not take place.
  package struct Timings: Sendable {
    package var blocked = Duration.zero
    package var dns: Duration?
    package var connect: Duration?
    package var tls: Duration?
    package var send = Duration.zero
    package var wait = Duration.zero
    package var receive = Duration.zero

    package init() {}

    var total: Duration {
      blocked + (dns ?? .zero) + (connect ?? .zero) + (tls ?? .zero) + send + wait + receive
    }
  }

  package typealias Field = (name: String, value: String)

  package var startedAt: Instant
  /// Present if the run has several manifests.
  package var manifest: String?
  package var node: String
  package var path: [UInt8]?
  package var step: Step.Kind
  package var method: String
  package var url: String
  package var requestVersion = "HTTP/1.1"
  package var requestFields: [Field] = []
  package var requestHeadSize: Int64 = 0
  package var requestBody: Body?
  package var requestBodySize: Int64 = 0
  /// 0 without a response.
  package var status = 0
  package var reason = ""
  package var responseVersion = "HTTP/1.1"
  package var responseFields: [Field] = []
  package var responseHeadSize: Int64 = 0
  package var responseBody: Body?
  package var responseBodySize: Int64 = 0
  package var redirectURL = ""
  package var timings = Timings()
  package var address: String?
  package var localPort: UInt16?
  package var proxy: String?
  package var isConnectionReused = false
  /// The reason why there is no complete response.
  package var failure: String?

  package init(startedAt: Instant, node: String, step: Step.Kind, method: String, url: String) {
    (self.startedAt, self.node, self.step, self.method, self.url) = (startedAt, node, step, method, url)
  }
}

extension HAREntry {
  /// The entry as one line of JSON, without a line break.
  package var json: [UInt8] {
    var line = JSONLine()
    line.add("startedDateTime", startedAt)
    line.add("time", timings.total.milliseconds)
    line.add("request", request)
    line.add("response", response)
    line.add("cache", JSONLine())
    line.add("timings", timings.json)
    line.add("serverIPAddress", address)
    line.add("connection", localPort.map { String($0) })
    line.add("_manifest", manifest)
    line.add("_node", node)
    line.add("_path", path.map { String(decoding: $0, as: UTF8.self) })
    line.add("_pathBase64", path.flatMap { DisplayPath.base64($0) })
    line.add("_step", step.rawValue)
    line.add("_proxy", proxy)
    line.add("_reusedConnection", isSet: isConnectionReused)
    line.add("_error", failure)
    return line.bytes
  }

  private var request: JSONLine {
    var line = JSONLine()
    line.add("method", method)
    line.add("url", url)
    line.add("httpVersion", requestVersion)
    line.add("cookies", [] as [JSONLine])
    line.add("headers", requestFields.map(Self.json))
    line.add("queryString", query)
    if let requestBody {
      var data = JSONLine()
      data.add("mimeType", Self.mediaType(in: requestFields))
      data.add("text", requestBody.text)
      data.add("comment", requestBody.isCut ? "the beginning of the body" : nil)
      line.add("postData", data)
    }
    line.add("headersSize", requestHeadSize)
    line.add("bodySize", requestBodySize)
    return line
  }

  private var response: JSONLine {
    var content = JSONLine()
    content.add("size", responseBodySize)
    content.add("mimeType", Self.mediaType(in: responseFields))
    content.add("text", responseBody?.text)
    content.add("comment", responseBody?.isCut == true ? "the beginning of the body" : nil)
    var line = JSONLine()
    line.add("status", Int64(status))
    line.add("statusText", reason)
    line.add("httpVersion", responseVersion)
    line.add("cookies", [] as [JSONLine])
    line.add("headers", responseFields.map(Self.json))
    line.add("content", content)
    line.add("redirectURL", redirectURL)
    line.add("headersSize", status == 0 ? -1 : responseHeadSize)
    line.add("bodySize", status == 0 ? -1 : responseBodySize)
    return line
  }

  private var query: [JSONLine] {
    let url = url.utf8.prefix { $0 != UInt8(ascii: "#") }
    guard let mark = url.firstIndex(of: UInt8(ascii: "?")) else { return [] }
    return url[mark...].dropFirst().split(separator: UInt8(ascii: "&")).map { field in
      let equals = field.firstIndex(of: UInt8(ascii: "=")) ?? field.endIndex
      return Self.json(
        (
          String(decoding: field[..<equals], as: UTF8.self),
          String(decoding: field[equals...].dropFirst(), as: UTF8.self)
        ))
    }
  }

  private static func json(_ field: Field) -> JSONLine {
    var line = JSONLine()
    line.add("name", field.name)
    line.add("value", field.value)
    return line
  }

  private static func mediaType(in fields: [Field]) -> String {
    fields.first { $0.name.lowercased() == "content-type" }?.value ?? ""
  }
}

extension HAREntry.Timings {
  /// The durations in milliseconds; -1 for a phase that did not take place. `connect` includes `ssl`.
  fileprivate var json: JSONLine {
    var line = JSONLine()
    line.add("blocked", blocked.milliseconds)
    line.add("dns", dns?.milliseconds ?? -1)
    line.add("connect", connect.map { ($0 + (tls ?? .zero)).milliseconds } ?? -1)
    line.add("ssl", tls?.milliseconds ?? -1)
    line.add("send", send.milliseconds)
    line.add("wait", wait.milliseconds)
    line.add("receive", receive.milliseconds)
    return line
  }
}

extension Duration {
  /// Milliseconds, with three decimal places.
  fileprivate var milliseconds: Double { (seconds * 1e6).rounded() / 1e3 }
}

/// The text around the entries of an HTTP Archive. Each entry is a line.
package enum HARText {
  /// The beginning of every archive that ferry writes.
  package static let start = Array(#"{"log":{"version":"1.2","creator":{"name":"ferry","version":""#.utf8)
  package static let separator = Array(",\n".utf8)

  package static func header(version: String) -> [UInt8] {
    var creator = JSONLine()
    creator.add("name", "ferry")
    creator.add("version", version)
    return Array(#"{"log":{"version":"1.2","creator":"#.utf8) + creator.bytes + Array(#","entries":["#.utf8)
  }

  /// - Parameter omitted: the number of requests that are missing because the file is full.
  package static func end(omitted: Int) -> [UInt8] {
    guard omitted > 0 else { return Array("\n]}}\n".utf8) }
    var line = JSONLine()
    line.add("comment", "\(Count.text(omitted, "more request")) not recorded, because the file is full")
    return Array("\n],".utf8) + line.bytes.dropFirst() + Array("}\n".utf8)
  }
}
