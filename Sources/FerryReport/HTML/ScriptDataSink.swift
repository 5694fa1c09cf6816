/// Writes JSON into a `script` element. `<` cannot end the element or begin a comment, because it is escaped; in JSON, it
/// only occurs in strings.
final class ScriptDataSink: ByteSink {
  private let sink: any ByteSink

  init(_ sink: any ByteSink) { self.sink = sink }

  func write(_ bytes: [UInt8]) throws {
    guard bytes.contains(UInt8(ascii: "<")) else { return try sink.write(bytes) }
    var escaped: [UInt8] = []
    escaped.reserveCapacity(bytes.count + 64)
    for byte in bytes {
      if byte == UInt8(ascii: "<") { escaped += "\\u003c".utf8 } else { escaped.append(byte) }
    }
    try sink.write(escaped)
  }
}
