import FerryPlan

/// One line of JSON, written key by key, so that a million lines do not need an encoder.
package struct JSONLine {
  private var text = Array("{".utf8)
  private var hasKeys = false

  package init() {}

  package mutating func add(_ key: StaticString, _ value: String?) {
    guard var value else { return }
    guard !value.withUTF8({ add(key, plain: $0) }) else { return }
    begin(key)
    PrintableJSON.append(value, to: &text)
  }

  /// Adds a file name, and its bytes in Base64 as `path_base64` if it is not UTF-8.
  package mutating func add(path: [UInt8]) {
    guard !path.withUnsafeBufferPointer({ add("path", plain: $0) }) else { return }
    begin("path")
    PrintableJSON.append(String(decoding: path, as: UTF8.self), to: &text)
    add("path_base64", DisplayPath.base64(path))
  }

  package mutating func add(_ key: StaticString, _ value: Int64?) {
    guard let value else { return }
    begin(key)
    text.append(decimal: value)
  }

  package mutating func add(name: String, _ value: Int64) {
    begin(name: name)
    text.append(decimal: value)
  }

  /// Adds a number of seconds, which is finite.
  package mutating func add(_ key: StaticString, _ value: Double?) {
    guard let value else { return }
    begin(key)
    append(value)
  }

  package mutating func add(_ key: StaticString, _ value: Instant?) {
    guard let value else { return }
    begin(key)
    text.append(UInt8(ascii: "\""))
    text.append(value)
    text.append(UInt8(ascii: "\""))
  }

  package mutating func add(_ key: StaticString, isSet: Bool) {
    begin(key)
    text += (isSet ? "true" : "false").utf8
  }

  /// Adds an object of strings in this order. Has no effect if there are none.
  package mutating func add(_ key: StaticString, _ values: [(name: String, value: String)]) {
    guard !values.isEmpty else { return }
    begin(key)
    var object = JSONLine()
    for value in values {
      object.begin(name: value.name)
      PrintableJSON.append(value.value, to: &object.text)
    }
    text += object.text + "}".utf8
  }

  /// Adds an array of strings.
  package mutating func add(_ key: StaticString, strings: [String]) {
    begin(key)
    text.append(UInt8(ascii: "["))
    for (index, value) in strings.enumerated() {
      if index > 0 { text.append(UInt8(ascii: ",")) }
      PrintableJSON.append(value, to: &text)
    }
    text.append(UInt8(ascii: "]"))
  }

  /// An element of an array.
  package enum Scalar: Sendable {
    case number(Double)
    case text(String)
  }

  /// Adds an array of finite numbers.
  package mutating func add(_ key: StaticString, numbers: [Double]) {
    begin(key)
    text.append(UInt8(ascii: "["))
    for (index, value) in numbers.enumerated() {
      if index > 0 { text.append(UInt8(ascii: ",")) }
      append(value)
    }
    text.append(UInt8(ascii: "]"))
  }

  /// Adds an array of arrays of numbers and strings.
  package mutating func add(_ key: StaticString, arrays: [[Scalar]]) {
    begin(key)
    text.append(UInt8(ascii: "["))
    for (index, array) in arrays.enumerated() {
      text += (index > 0 ? ",[" : "[").utf8
      for (position, value) in array.enumerated() {
        if position > 0 { text.append(UInt8(ascii: ",")) }
        switch value {
        case .number(let number): append(number)
        case .text(let string): PrintableJSON.append(string, to: &text)
        }
      }
      text.append(UInt8(ascii: "]"))
    }
    text.append(UInt8(ascii: "]"))
  }

  private mutating func append(_ value: Double) {
    text += (value == value.rounded() && abs(value) < 1e15 ? "\(Int64(value))" : "\(value)").utf8
  }

  /// Adds an array of objects.
  package mutating func add(_ key: StaticString, _ lines: [JSONLine]) {
    begin(key)
    text += "[\(lines.map(\.ended).joined(separator: ","))]".utf8
  }

  package mutating func add(_ key: StaticString, _ line: JSONLine) {
    begin(key)
    text += line.text + "}".utf8
  }

  package var ended: String { String(decoding: bytes, as: UTF8.self) }

  package var bytes: [UInt8] { text + "}".utf8 }

  /// Begins a value whose key is not known at compile time.
  private mutating func begin(name: String) {
    if hasKeys { text.append(UInt8(ascii: ",")) }
    hasKeys = true
    PrintableJSON.append(name, to: &text)
    text.append(UInt8(ascii: ":"))
  }

  /// Begins a value. A key that is known at compile time needs no escapes.
  private mutating func begin(_ key: StaticString) { append(key, nil) }

  /// Adds a string if none of its bytes has to be escaped, as in most strings.
  ///
  /// - Returns: whether it was added.
  private mutating func add(_ key: StaticString, plain value: UnsafeBufferPointer<UInt8>) -> Bool {
    guard PlainText.isPlain(value) else { return false }
    append(key, value)
    return true
  }

  /// Appends a key, and a string that needs no escapes. They are appended at once, because each call of `append` checks the
  /// array, which takes longer than copying the bytes.
  private mutating func append(_ key: StaticString, _ value: UnsafeBufferPointer<UInt8>?) {
    key.withUTF8Buffer { key in
      withUnsafeTemporaryAllocation(of: UInt8.self, capacity: key.count + (value?.count ?? 0) + 6) { part in
        part[0] = UInt8(ascii: ",")
        var end = hasKeys ? 1 : 0
        func put(_ byte: UInt8) {
          part[end] = byte
          end += 1
        }
        put(UInt8(ascii: "\""))
        end = part[end...].update(fromContentsOf: key)
        put(UInt8(ascii: "\""))
        put(UInt8(ascii: ":"))
        if let value {
          put(UInt8(ascii: "\""))
          end = part[end...].update(fromContentsOf: value)
          put(UInt8(ascii: "\""))
        }
        text.append(contentsOf: UnsafeBufferPointer(rebasing: part[..<end]))
      }
    }
    hasKeys = true
  }
}
