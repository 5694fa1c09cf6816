import FerryPlan

/// Objects of JSON whose first key is `type`, each on one line. `JSONLine` writes objects of any form.
extension ByteBuffer {
  /// Begins an object.
  mutating func beginObject(type: StaticString) {
    append(literal: "{\"type\":\"")
    append(literal: type)
    append(UInt8(ascii: "\""))
  }

  /// Ends an object and its line.
  mutating func endObject() { append(literal: "}\n") }

  mutating func add(_ key: StaticString, _ value: String?) {
    guard var value else { return }
    begin(key)
    let isPlain = value.withUTF8 { bytes in
      guard PrintableJSON.isPlain(bytes) else { return false }
      appendQuoted(bytes)
      return true
    }
    if !isPlain { appendEscaped(value) }
  }

  /// Adds a file name, and its bytes in Base64 as `path_base64` if it is not UTF-8.
  mutating func add(path: [UInt8]) {
    begin("path")
    let isPlain = path.withUnsafeBufferPointer { bytes in
      guard PrintableJSON.isPlain(bytes) else { return false }
      appendQuoted(bytes)
      return true
    }
    guard !isPlain else { return }
    appendEscaped(String(decoding: path, as: UTF8.self))
    add("path_base64", DisplayPath.base64(path))
  }

  /// Adds the time of an event.
  mutating func add(_ key: StaticString, _ time: TimeText) {
    begin(key)
    time.bytes.withUnsafeBufferPointer { appendQuoted($0) }
  }

  mutating func add(_ key: StaticString, _ value: Int64?) {
    guard let value else { return }
    begin(key)
    append(decimal: value)
  }

  mutating func add(_ key: StaticString, isSet: Bool) {
    begin(key)
    append(literal: isSet ? "true" : "false")
  }

  /// Adds a duration in seconds, rounded to a number of decimals.
  mutating func add(_ key: StaticString, seconds value: Duration, decimals: Int) {
    begin(key)
    append(seconds: value, decimals: decimals)
  }

  /// Adds an array of strings.
  mutating func add(_ key: StaticString, strings: [String]) {
    begin(key)
    append(UInt8(ascii: "["))
    for (index, value) in strings.enumerated() {
      if index > 0 { append(UInt8(ascii: ",")) }
      appendEscaped(value)
    }
    append(UInt8(ascii: "]"))
  }

  /// Begins a member after the first one.
  private mutating func begin(_ key: StaticString) {
    append(literal: ",\"")
    append(literal: key)
    append(literal: "\":")
  }

  /// Appends a string that needs no escapes.
  private mutating func appendQuoted(_ bytes: UnsafeBufferPointer<UInt8>) {
    append(UInt8(ascii: "\""))
    append(bytes)
    append(UInt8(ascii: "\""))
  }

  private mutating func appendEscaped(_ value: String) {
    var quoted: [UInt8] = []
    PrintableJSON.append(value, to: &quoted)
    append(quoted)
  }
}
