import FerryPlan

/// The validators of a response that a later request can send back (RFC 9110, section 8.8).
package enum Validator {
  /// The maximum length in bytes. A longer entity tag is not kept, because many servers reject request
  /// headers larger than 8 KiB.
  package static let limit = 1024

  /// The entity tag, `"…"` or `W/"…"` in printable ASCII. `nil` for any other value: a list, two different
  /// tags, or `*`, which would match any version.
  package static func entityTag(of answer: TransferResponse) -> String? {
    single("ETag", of: answer).flatMap { isEntityTag($0) ? $0 : nil }
  }

  /// The modification date, in the form of RFC 9110, section 5.6.7.
  ///
  /// `nil` for a date that is later than the response's `Date` (section 8.8.2.1), or more than a day later
  /// than the arrival of the response: until that date, a server that compares dates would report every
  /// version as not modified.
  ///
  /// - Parameter now: when the response arrived.
  package static func lastModified(of answer: TransferResponse, at now: Instant) -> String? {
    guard let text = single("Last-Modified", of: answer), isDate(text), let date = HTTPDate.instant(text),
      date <= now.advanced(by: .seconds(86_400)),
      date <= single("Date", of: answer).flatMap({ HTTPDate.instant($0) }) ?? now
    else { return nil }
    return text
  }

  /// The validator for `If-Range`: a strong entity tag or, without an entity tag, a date that is a strong validator; `nil`
  /// if the response has neither (RFC 9110, section 13.1.5).
  ///
  /// A date is a strong validator if the response's `Date` is at least one second later (section 8.8.2.2): otherwise, the
  /// document may have changed again in the second in which it was read.
  static func strong(of answer: TransferResponse) -> String? {
    guard fields("ETag", of: answer).isEmpty else {
      return entityTag(of: answer).flatMap { $0.hasPrefix("W/") ? nil : $0 }
    }
    guard let text = single("Last-Modified", of: answer), isDate(text),
      let modified = HTTPDate.instant(text), let date = single("Date", of: answer),
      let sent = HTTPDate.instant(date), modified.advanced(by: .seconds(1)) <= sent
    else { return nil }
    return text
  }

  /// The date in `Last-Modified`; `nil` if it is missing or invalid.
  static func modified(of answer: TransferResponse) -> Instant? {
    single("Last-Modified", of: answer).flatMap { isDate($0) ? HTTPDate.instant($0) : nil }
  }

  /// Whether a response (206) may refer to the version with this strong validator. A response without the field of the
  /// validator may refer to any version.
  static func isStronglyNamed(_ validator: String, in answer: TransferResponse) -> Bool {
    guard isEntityTag(validator) else { return isNamed(lastModified: validator, in: answer) }
    return fields("ETag", of: answer).allSatisfy { $0.utf8.elementsEqual(validator.utf8) }
  }

  package static func isEntityTag(_ text: String) -> Bool {
    var bytes = Array(text.utf8)[...]
    guard bytes.count <= limit else { return false }
    if bytes.starts(with: "W/".utf8) { bytes = bytes.dropFirst(2) }
    guard bytes.count >= 2, bytes.first == UInt8(ascii: "\""), bytes.last == UInt8(ascii: "\"") else {
      return false
    }
    // Bytes above 0x7F are valid, but were decoded as UTF-8 and might be sent back differently.
    return bytes.dropFirst().dropLast().allSatisfy { (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "\"") }
  }

  package static func isDate(_ text: String) -> Bool {
    text.utf8.allSatisfy { (0x20...0x7E).contains($0) } && HTTPDate.isSendable(text)
  }

  /// Whether a 304 response may refer to this entity tag, by the weak comparison of `If-None-Match` (RFC
  /// 9110, sections 8.8.3.2 and 13.1.2). A response without an entity tag may refer to any entity tag.
  package static func isNamed(entityTag: String, in answer: TransferResponse) -> Bool {
    let named = fields("ETag", of: answer)
    return named.isEmpty || named.contains { opaque($0).elementsEqual(opaque(entityTag)) }
  }

  /// Whether a 304 response may refer to this modification date.
  package static func isNamed(lastModified: String, in answer: TransferResponse) -> Bool {
    let named = fields("Last-Modified", of: answer)
    return named.isEmpty
      || named.contains {
        $0.utf8.elementsEqual(lastModified.utf8) || HTTPDate.instant($0) == HTTPDate.instant(lastModified)
      }
  }

  private static func opaque(_ tag: String) -> Substring.UTF8View {
    (tag.hasPrefix("W/") ? tag.dropFirst(2) : tag[...]).utf8
  }

  /// The value of a field that occurs once, or several times with the same value.
  private static func single(_ name: String, of answer: TransferResponse) -> String? {
    let values = fields(name, of: answer)
    guard let first = values.first, values.allSatisfy({ $0.utf8.elementsEqual(first.utf8) }) else {
      return nil
    }
    return first
  }

  private static func fields(_ name: String, of answer: TransferResponse) -> [String] {
    answer.headers.filter { $0.name.isField(named: name) }.map(\.value)
  }
}
