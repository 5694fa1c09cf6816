import FerryPlan

/// `Content-Encoding` of a response (RFC 9110, section 8.4).
///
/// Without `decompress`, ferry does not decode content codings and does not add `Accept-Encoding`. If the manifest's
/// request has that field, the bytes are stored as received.
package enum ContentCoding {
  /// The content codings of the response that the request's `Accept-Encoding` neither lists nor covers with
  /// `*`; `nil` if there are none.
  static func unrequested(
    in fields: [(name: String, value: String)], of request: [TransferRequest.HeaderField]
  ) -> String? {
    let codings = codings(of: fields)
    guard !codings.isEmpty else { return nil }
    let accepted = members(of: request.filter { $0.name.isField("accept-encoding") }.map(\.value))
    let foreign = codings.filter { !accepted.contains($0) && !accepted.contains("*") }
    return foreign.isEmpty ? nil : foreign.joined(separator: ", ")
  }

  /// The content codings of a response except `identity`, in the order in which the server applied them.
  static func codings(of fields: [(name: String, value: String)]) -> [String] {
    // Most responses have none.
    guard let first = fields.indices.first(where: { fields[$0].name.isField("content-encoding") }) else {
      return []
    }
    return members(of: fields[first...].filter { $0.name.isField("content-encoding") }.map(\.value)).filter {
      $0 != "identity"
    }
  }

  /// The codings for use in a message. They are named only if all of them are registered, because a server
  /// could return a secret as a coding.
  package static func shown(_ codings: String) -> String {
    let names = codings.split(separator: ", ").map(String.init)
    return names.allSatisfy(registered.contains)
      ? "Content-Encoding: \(codings)" : "an unregistered Content-Encoding"
  }

  /// https://www.iana.org/assignments/http-parameters
  private static let registered: Set = [
    "aes128gcm", "br", "compress", "dcb", "dcz", "deflate", "exi", "gzip", "pack200-gzip", "zstd",
  ]

  /// The codings in lowercase, without parameters and without the historic prefix `x-`. A list member that
  /// is not a valid coding name is represented by `unknown`, which is not registered.
  private static func members(of values: [String]) -> [String] {
    values.flatMap { $0.utf8.split(separator: UInt8(ascii: ",")) }.compactMap { member in
      let bytes = member.prefix { $0 != UInt8(ascii: ";") }.filter { $0 != 0x20 && $0 != 0x09 }
      guard bytes.count <= 64, bytes.allSatisfy({ $0 < 0x80 }) else { return "unknown" }
      let name = String(decoding: bytes, as: UTF8.self).lowercased()
      switch name {
      case "": return nil
      case "x-gzip": return "gzip"
      case "x-compress": return "compress"
      default: return name
      }
    }
  }
}
