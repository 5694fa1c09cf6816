import Foundation
import Testing

/// The forms in which a secret could appear: unchanged, percent-encoded, in JSON, in HTML and in Base64.
enum SecretForms {
  /// All forms. Base64 has three forms, one for each alignment of the secret in a longer text.
  static func all(of secret: String) -> [String] {
    var unreserved = CharacterSet.alphanumerics
    unreserved.insert(charactersIn: "-._~")
    let encoded = secret.addingPercentEncoding(withAllowedCharacters: unreserved) ?? secret
    let base64 = (0..<3).flatMap { shift -> [String] in
      let text = Data((String(repeating: "x", count: shift) + secret).utf8).base64EncodedString()
      // The first and last characters also encode bits of the adjacent text.
      let inner = String(text.dropFirst(shift == 0 ? 0 : 4).prefix(text.count - 12))
      return [inner, inner.replacing("+", with: "-").replacing("/", with: "_")]
    }
    let json = secret.replacing("/", with: "\\/")
    let html = secret.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
      .replacing("\"", with: "&quot;")
    return Array(
      Set([secret, html, encoded, encoded.lowercased(), encoded.replacing("%20", with: "+"), json] + base64))
  }

  /// The forms of a secret that the data contains.
  static func found(_ secret: String, in data: Data) -> [String] {
    all(of: secret).filter { data.range(of: Data($0.utf8)) != nil }
  }

  static func expectNone(
    of secrets: [String], in data: Data, _ place: String, sourceLocation: SourceLocation = #_sourceLocation
  ) {
    for form in secrets.flatMap({ found($0, in: data) }) {
      Issue.record("\(place) holds a secret as \(form)", sourceLocation: sourceLocation)
    }
  }
}
