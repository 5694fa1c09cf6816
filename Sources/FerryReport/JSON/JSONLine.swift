import FerryPlan

/// One line of JSON, written key by key, so that a million lines do not need an encoder.
package struct JSONLine {
  private var text = Array("{".utf8)
  private var hasKeys = false

  package init() {}

  /// Appends an object directly to a buffer, without copying the object.
  package static func append(to buffer: inout [UInt8], _ add: (inout JSONLine) -> Void) {
    var line = JSONLine()
    swap(&line.text, &buffer)
    line.text.append(UInt8(ascii: "{"))
    add(&line)
    line.text.append(UInt8(ascii: "}"))
    swap(&line.text, &buffer)
  }

  package mutating func add(_ key: String, _ value: String?) {
    guard let value else { return }
    begin(key)
    PrintableJSON.append(value, to: &text)
  }

  /// Adds a file name, and its bytes in Base64 as `path_base64` if it is not UTF-8.
  package mutating func add(path: [UInt8]) {
    begin("path")
    guard !path.withUnsafeBufferPointer({ PrintableJSON.appendPlain($0, to: &text) }) else { return }
    PrintableJSON.append(String(decoding: path, as: UTF8.self), to: &text)
    add("path_base64", DisplayPath.base64(path))
  }

  package mutating func add(_ key: String, _ value: Int64?) {
    guard let value else { return }
    begin(key)
    text.append(decimal: value)
  }

  /// Adds a duration in seconds, rounded to a number of decimals.
  package mutating func add(_ key: String, seconds value: Duration, decimals: Int) {
    begin(key)
    text.append(seconds: value, decimals: decimals)
  }

  /// Adds a finite number.
  package mutating func add(_ key: String, _ value: Double?) {
    guard let value else { return }
    begin(key)
    append(value)
  }

  package mutating func add(_ key: String, _ value: Instant?) {
    guard let value else { return }
    begin(key)
    text.append(UInt8(ascii: "\""))
    text.append(value)
    text.append(UInt8(ascii: "\""))
  }

  package mutating func add(_ key: String, isSet: Bool) {
    begin(key)
    text += (isSet ? "true" : "false").utf8
  }

  /// Adds an object of strings in this order. Has no effect if there are none.
  package mutating func add(_ key: String, _ values: [(name: String, value: String)]) {
    guard !values.isEmpty else { return }
    begin(key)
    var object = JSONLine()
    for value in values { object.add(value.name, value.value) }
    text += object.text + "}".utf8
  }

  /// Adds an array of strings.
  package mutating func add(_ key: String, strings: [String]) {
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
  package mutating func add(_ key: String, numbers: [Double]) {
    begin(key)
    text.append(UInt8(ascii: "["))
    for (index, value) in numbers.enumerated() {
      if index > 0 { text.append(UInt8(ascii: ",")) }
      append(value)
    }
    text.append(UInt8(ascii: "]"))
  }

  /// Adds an array of arrays of numbers and strings.
  package mutating func add(_ key: String, arrays: [[Scalar]]) {
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
  package mutating func add(_ key: String, _ lines: [JSONLine]) {
    begin(key)
    text += "[\(lines.map(\.ended).joined(separator: ","))]".utf8
  }

  package mutating func add(_ key: String, _ line: JSONLine) {
    begin(key)
    text += line.text + "}".utf8
  }

  package var ended: String { String(decoding: bytes, as: UTF8.self) }

  package var bytes: [UInt8] { text + "}".utf8 }

  private mutating func begin(_ key: String) {
    if hasKeys { text.append(UInt8(ascii: ",")) }
    hasKeys = true
    PrintableJSON.append(key, to: &text)
    text.append(UInt8(ascii: ":"))
  }
}
