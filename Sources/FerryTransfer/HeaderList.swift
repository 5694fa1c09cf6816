import CCurl
import FerryPlan

/// A request's header fields as `CURLOPT_HTTPHEADER` takes them, checked.
final class HeaderList {
  let fields: [TransferRequest.HeaderField]
  /// What a `Content-Length` among the fields promises. libcurl sends that field itself.
  let declaredLength: Int64?
  private(set) var slist: UnsafeMutablePointer<curl_slist>?

  /// Fails with `request` where a name is no token, a value has a control character, or a field
  /// would change how the body is framed.
  init(_ fields: [TransferRequest.HeaderField]) throws(TransportFailure) {
    self.fields = fields
    var lines: [[CChar]] = []
    var declaredLength: Int64?
    var hasContentType = false
    for field in fields {
      switch field.name.lowercased() {
      case "content-length":
        guard let length = Int64(field.value), length >= 0, declaredLength ?? length == length else {
          throw Self.failure("the Content-Length header is not the body's size")
        }
        declaredLength = length
        continue
      case "transfer-encoding":
        throw Self.failure("the Transfer-Encoding header is ferry's own to set")
      case "content-type":
        hasContentType = true
      default:
        break
      }
      lines.append(try Self.line(field))
    }
    // CURLOPT_POSTFIELDS would name a form's media type; a name without a value leaves the field out.
    if !hasContentType { lines.append("Content-Type:".utf8CString.map { $0 }) }
    self.declaredLength = declaredLength
    for line in lines {
      guard let longer = curl_slist_append(slist, line) else { throw Self.failure("out of memory") }
      slist = longer
    }
  }

  deinit { curl_slist_free_all(slist) }

  private static func line(_ field: TransferRequest.HeaderField) throws(TransportFailure) -> [CChar] {
    guard !field.name.isEmpty, field.name.utf8.allSatisfy(\.isToken) else {
      throw failure("a header's name is not a token")
    }
    guard field.value.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }) else {
      throw failure("the value of the header \(field.name) has a line end or another control character")
    }
    // "Name;" is libcurl's way to send a field with an empty value.
    let isEmpty = field.value.utf8.allSatisfy { $0 == 0x20 || $0 == 0x09 }
    return Array((isEmpty ? "\(field.name);" : "\(field.name): \(field.value)").utf8CString)
  }

  private static func failure(_ message: String) -> TransportFailure {
    TransportFailure(.request, message, mayHaveReachedServer: false)
  }
}

extension UInt8 {
  /// RFC 9110, section 5.6.2: what a method or a field name may hold.
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
