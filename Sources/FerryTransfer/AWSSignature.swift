import FerryDigest
import FerryPlan

/// The signature of one request (AWS Signature Version 4; "Create a signed AWS API request" in the AWS IAM User Guide).
struct AWSSignature {
  enum Payload: Equatable {
    case unsigned
    /// The SHA-256 of the body.
    case sha256([UInt8])

    var text: String {
      switch self {
      case .unsigned: "UNSIGNED-PAYLOAD"
      case .sha256(let digest): Hexadecimal.text(digest)
      }
    }
  }

  /// The values of the header fields that sign a request.
  struct Fields: Equatable {
    var authorization: String
    var date: String
    var payloadHash: String
    var sessionToken: String?
  }

  /// The names of the header fields that sign a request, in lower case.
  static let fieldNames: Set = [
    "authorization", "x-amz-date", "x-amz-content-sha256", "x-amz-security-token",
  ]

  /// Fields that are not signed: libcurl or a proxy may add, change or remove them.
  private static let unsigned: Set = [
    "accept-encoding", "connection", "content-length", "expect", "host", "keep-alive", "proxy-authorization",
    "te",
    "trailer", "transfer-encoding", "upgrade", "user-agent", "x-amzn-trace-id",
  ]

  private let credentials: AWSCredentials
  private let scope: AWSScope
  private let timestamp: String
  private let payload: Payload
  /// The fields that are signed, sorted by name.
  private let fields: [(name: String, value: String)]
  private let method: String
  private let path: String
  private let query: String

  /// Returns `nil` if the URL is not an absolute URL with a host.
  ///
  /// - Parameter headers: the other fields of the request; the fields of a previous signature are ignored.
  init?(
    method: String, url: String, headers: [TransferRequest.HeaderField], payload: Payload, date: Instant,
    scope: AWSScope, credentials: AWSCredentials
  ) {
    guard let parts = CurlURL(url), let host = parts.hostField else { return nil }
    self.credentials = credentials
    self.scope = scope
    self.payload = payload
    self.method = method
    timestamp = date.compact
    path = scope.service == "s3" ? Self.path(ofS3: parts.path) : Self.path(parts.path)
    query = Self.query(parts.query ?? "")
    var values: [String: [String]] = [
      "host": [host], "x-amz-date": [timestamp], "x-amz-content-sha256": [payload.text],
    ]
    if let token = credentials.sessionToken { values["x-amz-security-token"] = [token] }
    for header in headers {
      let name = header.name.lowercased()
      guard !Self.fieldNames.contains(name), !Self.unsigned.contains(name) else { continue }
      values[name, default: []].append(header.value)
    }
    fields = values.sorted { $0.key < $1.key }.map { name, values in
      (name, values.map(Self.trimmed).joined(separator: ","))
    }
  }

  /// The header fields that sign the request.
  func fields(_ keys: inout AWSSigningKeys) -> Fields {
    let key = keys.key(credentials, date: day, scope)
    let signature = Hexadecimal.text(HMAC.sha256(of: Array(stringToSign.utf8), key: key))
    return Fields(
      authorization:
        "AWS4-HMAC-SHA256 Credential=\(credentials.accessKey)/\(credentialScope), SignedHeaders=\(signedHeaders), "
        + "Signature=\(signature)",
      date: timestamp, payloadHash: payload.text, sessionToken: credentials.sessionToken)
  }

  /// Whether the query of a URL contains a signature.
  static func isPresigned(_ url: String) -> Bool {
    guard let query = CurlURL(url)?.query else { return false }
    return query.split(separator: "&").contains { $0.lowercased().hasPrefix("x-amz-signature=") }
  }

  // MARK: The parts of a signature

  private var day: String { String(timestamp.prefix(8)) }
  private var credentialScope: String { "\(day)/\(scope.region)/\(scope.service)/aws4_request" }
  private var signedHeaders: String { fields.map(\.name).joined(separator: ";") }

  var canonicalRequest: String {
    let lines = fields.map { "\($0.name):\($0.value)\n" }.joined()
    return [method, path, query, lines, signedHeaders, payload.text].joined(separator: "\n")
  }

  var stringToSign: String {
    let digest = Hexadecimal.text(SHA256.hash(Array(canonicalRequest.utf8)))
    return ["AWS4-HMAC-SHA256", timestamp, credentialScope, digest].joined(separator: "\n")
  }

  /// The value without surrounding spaces, and with each run of spaces reduced to one space.
  private static func trimmed(_ value: String) -> String {
    value.unicodeScalars.split { $0 == " " || $0 == "\t" }.map { String($0) }.joined(separator: " ")
  }

  /// For S3, each segment is encoded exactly once, whether or not the URL encodes it, and no segments are
  /// removed.
  private static func path(ofS3 path: String) -> String {
    segments(of: path).map { encoded(decoded(Array($0)), for: .segment) }.joined(separator: "/")
  }

  /// For other services, the segments of the URL are encoded once more, and empty segments are removed.
  /// libcurl has already removed dot segments.
  private static func path(_ path: String) -> String {
    let segments = segments(of: path)
    let kept = segments.enumerated().filter { index, segment in
      !segment.isEmpty || index == 0 || index == segments.count - 1
    }
    return kept.map { encoded(Array($0.element), for: .segment) }.joined(separator: "/")
  }

  private static func segments(of path: String) -> [Substring.UTF8View] {
    path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).map { Substring($0).utf8 }
  }

  /// The parameters with names and values encoded in one way, sorted by name and then by value.
  private static func query(_ query: String) -> String {
    let parameters = query.utf8.split(separator: UInt8(ascii: "&")).map { parameter in
      let parts = parameter.split(
        separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
      func part(_ index: Int) -> String {
        guard index < parts.count else { return "" }
        // Servers read a plus sign in a query as a space.
        let bytes = parts[index].map { $0 == UInt8(ascii: "+") ? 0x20 : $0 }
        return encoded(decoded(bytes), for: .query)
      }
      return (name: part(0), value: part(1))
    }
    return parameters.sorted { ($0.name, $0.value) < ($1.name, $1.value) }
      .map { "\($0.name)=\($0.value)" }.joined(separator: "&")
  }

  private static func encoded(_ bytes: [UInt8], for component: PercentEncoding.Component) -> String {
    var text: [UInt8] = []
    PercentEncoding.append(bytes, for: component, to: &text)
    return String(decoding: text, as: UTF8.self)
  }

  /// Decodes percent-encoding; a percent sign without two digits stands for itself.
  private static func decoded(_ bytes: [UInt8]) -> [UInt8] {
    var decoded: [UInt8] = []
    decoded.reserveCapacity(bytes.count)
    var index = 0
    while index < bytes.count {
      if bytes[index] == UInt8(ascii: "%"), bytes.count - index > 2,
        let high = Hexadecimal.value(bytes[index + 1]), let low = Hexadecimal.value(bytes[index + 2])
      {
        decoded.append(high << 4 | low)
        index += 3
      } else {
        decoded.append(bytes[index])
        index += 1
      }
    }
    return decoded
  }
}

/// Signing keys, which are derived from credentials. Each key is valid for one day, region and service.
struct AWSSigningKeys {
  /// The number of keys at which all of them are dropped. A run has fewer combinations of credentials, regions
  /// and services, so most of the keys then belong to past days.
  private static let capacity = 32

  private struct Name: Hashable {
    var credentials: AWSCredentials
    var date: String
    var scope: AWSScope
  }

  private var keys: [Name: [UInt8]] = [:]

  /// Returns the signing key for a day and a scope.
  ///
  /// - Parameter date: the day in UTC, as `20130524`.
  mutating func key(_ credentials: AWSCredentials, date: String, _ scope: AWSScope) -> [UInt8] {
    let name = Name(credentials: credentials, date: date, scope: scope)
    if let key = keys[name] { return key }
    var key = Array("AWS4\(credentials.secretKey)".utf8)
    for part in [date, scope.region, scope.service, "aws4_request"] {
      key = HMAC.sha256(of: Array(part.utf8), key: key)
    }
    if keys.count == Self.capacity { keys = [:] }
    keys[name] = key
    return key
  }
}
