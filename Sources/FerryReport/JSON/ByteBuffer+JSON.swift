import FerryPlan

/// Objects of JSON whose first key is `type`. `JSONLine` writes objects of any form.
extension ByteBuffer {
  /// Begins an object.
  @inline(__always)
  mutating func beginObject(type: StaticString) {
    append(literal: "{\"type\":\"")
    append(literal: type)
    append(UInt8(ascii: "\""))
  }

  @inline(__always)
  mutating func endObject() { append(UInt8(ascii: "}")) }

  @inline(__always)
  mutating func add(_ key: StaticString, _ value: String?) {
    guard let value else { return }
    begin(key)
    if value.utf8.withContiguousStorageIfAvailable({ appendPlain($0) }) != true { appendEscaped(value) }
  }

  /// Adds a file name, and its bytes in Base64 as `path_base64` if it is not UTF-8.
  @inline(__always)
  mutating func add(path: ArraySlice<UInt8>) {
    begin("path")
    if !path.withUnsafeBufferPointer({ appendPlain($0) }) { addRest(ofEscaped: path) }
  }

  @inline(never)
  private mutating func addRest(ofEscaped path: ArraySlice<UInt8>) {
    appendEscaped(String(decoding: path, as: UTF8.self))
    add("path_base64", DisplayPath.base64(path))
  }

  /// Adds the time of an event.
  @inline(__always)
  mutating func add(_ key: StaticString, _ time: TimeText) {
    begin(key)
    append(UInt8(ascii: "\""))
    append(time.bytes)
    append(UInt8(ascii: "\""))
  }

  @inline(__always)
  mutating func add(_ key: StaticString, _ value: Int64?) {
    guard let value else { return }
    begin(key)
    append(decimal: value)
  }

  @inline(__always)
  mutating func add(_ key: StaticString, isSet: Bool) {
    begin(key)
    append(literal: isSet ? "true" : "false")
  }

  /// Adds a duration in seconds, rounded to a number of decimals.
  @inline(__always)
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
  @inline(__always)
  private mutating func begin(_ key: StaticString) {
    append(atMost: key.utf8CodeUnitCount + 4) { text in
      let length = key.utf8CodeUnitCount
      text[0] = UInt8(ascii: ",")
      text[1] = UInt8(ascii: "\"")
      (text + 2).update(from: key.utf8Start, count: length)
      text[length + 2] = UInt8(ascii: "\"")
      text[length + 3] = UInt8(ascii: ":")
      return length + 4
    }
  }

  /// Appends a quoted string if none of its bytes has to be escaped, as in most strings.
  ///
  /// - Returns: whether it was appended.
  @inline(__always)
  private mutating func appendPlain(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
    guard let first = bytes.baseAddress, PlainText.isPlain(bytes) else { return false }
    append(atMost: bytes.count + 2) { text in
      text[0] = UInt8(ascii: "\"")
      (text + 1).update(from: first, count: bytes.count)
      text[bytes.count + 1] = UInt8(ascii: "\"")
      return bytes.count + 2
    }
    return true
  }

  @inline(never)
  private mutating func appendEscaped(_ value: String) {
    var quoted: [UInt8] = []
    PrintableJSON.append(value, to: &quoted)
    append(quoted)
  }
}
