import CCurl
import FerryPlan

/// A request's validated header fields in the form required by `CURLOPT_HTTPHEADER`.
final class HeaderList {
  let fields: [TransferRequest.HeaderField]
  /// The value of a `Content-Length` among the fields. libcurl sends that field itself.
  let declaredLength: Int64?
  private(set) var slist: UnsafeMutablePointer<curl_slist>?

  /// Fails with `request` if a name is not a token, a value contains a control character, or a field would
  /// change how the body is framed.
  init(_ fields: [TransferRequest.HeaderField]) throws(TransportFailure) {
    self.fields = fields
    var lines: [[CChar]] = []
    var declaredLength: Int64?
    var hasContentType = false
    for field in fields {
      switch field.name.lowercased() {
      case "content-length":
        guard let length = Int64(field.value), length >= 0, declaredLength ?? length == length else {
          throw Self.failure("the Content-Length header does not equal the size of the body")
        }
        declaredLength = length
        continue
      case "transfer-encoding":
        throw Self.failure("the Transfer-Encoding header is set by ferry itself")
      case "content-type":
        hasContentType = true
      default:
        break
      }
      lines.append(try Self.line(field))
    }
    // With CURLOPT_POSTFIELDS, libcurl adds the media type of a form unless the field's name is listed without a value.
    if !hasContentType { lines.append("Content-Type:".utf8CString.map { $0 }) }
    self.declaredLength = declaredLength
    for line in lines {
      guard let longer = curl_slist_append(slist, line) else { throw Self.failure("out of memory") }
      slist = longer
    }
  }

  deinit { curl_slist_free_all(slist) }

  private static func line(_ field: TransferRequest.HeaderField) throws(TransportFailure) -> [CChar] {
    guard !field.name.isEmpty, field.name.allBytes(\.isToken) else {
      throw failure("a header name is not a token")
    }
    guard field.value.allBytes({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }) else {
      throw failure(
        "the value of the header \(field.name) contains a line break or another control character")
    }
    // libcurl sends a field with an empty value if it is written as "Name;".
    let isEmpty = field.value.allBytes { $0 == 0x20 || $0 == 0x09 }
    return Array((isEmpty ? "\(field.name);" : "\(field.name): \(field.value)").utf8CString)
  }

  private static func failure(_ message: String) -> TransportFailure {
    TransportFailure(.request, message, mayHaveReachedServer: false)
  }
}

extension UInt8 {
  /// Whether the byte may appear in a method or a field name (RFC 9110, section 5.6.2).
  var isToken: Bool {
    switch self {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      true
    case UInt8(ascii: "!"), UInt8(ascii: "#"), UInt8(ascii: "$"), UInt8(ascii: "%"), UInt8(ascii: "&"),
      UInt8(ascii: "'"), UInt8(ascii: "*"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."),
      UInt8(ascii: "^"), UInt8(ascii: "_"), UInt8(ascii: "`"), UInt8(ascii: "|"), UInt8(ascii: "~"):
      true
    default:
      false
    }
  }
}
