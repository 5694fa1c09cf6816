import FerryTransfer

/// The parts of a `multipart/form-data` body (RFC 7578), with all values inserted.
package struct FormParts: Equatable, Sendable {
  package struct Field: Equatable, Sendable {
    package var name: [UInt8]
    package var value: [UInt8]
    package var contentType: [UInt8]?

    package init(name: [UInt8], value: [UInt8], contentType: [UInt8]? = nil) {
      self.name = name
      self.value = value
      self.contentType = contentType
    }
  }

  /// The part that contains the file.
  package struct File: Equatable, Sendable {
    package var field: [UInt8]
    package var name: [UInt8]
    package var contentType: [UInt8]

    package init(field: [UInt8], name: [UInt8], contentType: [UInt8]) {
      self.field = field
      self.name = name
      self.contentType = contentType
    }
  }

  /// The fields before the file.
  package var before: [Field]
  /// The part that contains the file; `nil` for a form without a file.
  package var file: File?
  /// The fields after the file.
  package var after: [Field]

  package init(before: [Field] = [], file: File?, after: [Field] = []) {
    self.before = before
    self.file = file
    self.after = after
  }
}

/// The bytes of a form around its file.
package struct FormFraming: Equatable, Sendable {
  package var boundary: String
  package var prefix: [UInt8]
  package var suffix: [UInt8]

  /// The value of the request's Content-Type.
  package var contentType: String { "multipart/form-data; boundary=\(boundary)" }

  /// Composes a form with a new boundary.
  ///
  /// The boundary contains 128 random bits that nobody could predict when the file was written, so it is practically
  /// certain not to occur in the file. Files are not searched for the boundary, because they are sent while they are
  /// read. Fields are searched: a boundary that occurs in a field is not used.
  ///
  /// - Parameter random: returns 64 random bits from a source that cannot be predicted.
  /// - Returns: `nil` if every boundary occurs in the form, which means that `random` is not random.
  package init?(_ parts: FormParts, random: () -> UInt64) {
    // One attempt suffices unless a field contains the random boundary.
    for _ in 0..<8 {
      let boundary = "ferry-" + Self.hexadecimal(random()) + Self.hexadecimal(random())
      guard !parts.contains(Array(boundary.utf8)) else { continue }
      self.init(parts, boundary: boundary)
      return
    }
    return nil
  }

  private init(_ parts: FormParts, boundary: String) {
    self.boundary = boundary
    prefix = []
    suffix = []
    for field in parts.before { Self.append(field, boundary, to: &prefix) }
    if let file = parts.file {
      Self.beginPart(named: file.field, boundary, to: &prefix)
      prefix += "; filename=\"".utf8
      prefix += Self.quoted(file.name)
      prefix += "\"\r\nContent-Type: ".utf8
      prefix += file.contentType
      prefix += "\r\n\r\n".utf8
      suffix += "\r\n".utf8
    }
    for field in parts.after { Self.append(field, boundary, to: &suffix) }
    suffix += "--\(boundary)--\r\n".utf8
  }

  private static func append(_ field: FormParts.Field, _ boundary: String, to bytes: inout [UInt8]) {
    beginPart(named: field.name, boundary, to: &bytes)
    if let type = field.contentType {
      bytes += "\r\nContent-Type: ".utf8
      bytes += type
    }
    bytes += "\r\n\r\n".utf8
    bytes += field.value
    bytes += "\r\n".utf8
  }

  private static func beginPart(named name: [UInt8], _ boundary: String, to bytes: inout [UInt8]) {
    bytes += "--\(boundary)\r\nContent-Disposition: form-data; name=\"".utf8
    bytes += quoted(name)
    bytes += "\"".utf8
  }

  /// Escapes a name as browsers do (WHATWG HTML, multipart/form-data encoding algorithm). A backslash is not an escape
  /// character there, and bytes above 0x7F are sent unchanged.
  private static func quoted(_ name: [UInt8]) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(name.count)
    for byte in name {
      switch byte {
      case 0x0A: bytes += "%0A".utf8
      case 0x0D: bytes += "%0D".utf8
      case UInt8(ascii: "\""): bytes += "%22".utf8
      default: bytes.append(byte)
      }
    }
    return bytes
  }

  private static func hexadecimal(_ value: UInt64) -> String {
    let digits = String(value, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }
}

extension FormParts {
  /// Whether the bytes occur in a name, a value or a content type.
  fileprivate func contains(_ bytes: [UInt8]) -> Bool {
    let texts =
      (before + after).flatMap { [$0.name, $0.value] + ($0.contentType.map { [$0] } ?? []) }
      + (file.map { [$0.field, $0.name, $0.contentType] } ?? [])
    return texts.contains { text in
      text.count >= bytes.count && text.firstRange(of: bytes) != nil
    }
  }
}
