import FerryPlan
import Foundation

/// A report as `report.json`. Items are encoded individually, one per line. Keys are the names of the properties in
/// snake_case, so a new property does not require a change here.
package struct ReportJSON: ReportRenderer {
  package init() {}

  /// The line that begins the items.
  static let itemsLine = "  \"items\": ["

  package func render(_ source: ReportSource, to sink: any ByteSink) throws {
    let record = source.record
    var output = "{\n"
    output += "  \"version\": \(record.version),\n"
    output += "  \"run\": \(try Self.pretty(record.run)),\n"
    output += "  \"totals\": \(try Self.pretty(record.totals)),\n"
    output += "  \"nodes\": \(try Self.pretty(record.nodes)),\n"
    if let timeline = record.timeline { output += "  \"timeline\": \(try Self.line(timeline)),\n" }
    if let plan = record.plan { output += "  \"plan\": \(try Self.pretty(plan)),\n" }
    output += Self.itemsLine
    try sink.write(PrintableJSON.escaping(output.utf8))
    let encoder = ItemEncoder()
    var isFirst = true
    try source.eachItem { item in
      try sink.write(Array((isFirst ? "\n    " : ",\n    ").utf8) + encoder.encode(item))
      isFirst = false
    }
    try sink.write(isFirst ? "]\n}\n" : "\n  ]\n}\n")
  }

  /// The report with all of its items in memory.
  package static func encode(_ record: RunRecord) throws -> [UInt8] {
    let sink = MemorySink()
    try ReportJSON().render(ReportSource(record), to: sink)
    return sink.bytes
  }

  package static func decode(_ bytes: [UInt8]) throws -> RunRecord {
    try decode(RunRecord.self, from: bytes).received()
  }

  static func decode<Value: Decodable>(_ type: Value.Type, from bytes: some Sequence<UInt8>)
    throws
    -> Value
  {
    let decoder = JSONDecoder()
    decoder.keyDecodingStrategy = .convertFromSnakeCase
    return try decoder.decode(type, from: Data(bytes))
  }

  static func encoder(_ formatting: JSONEncoder.OutputFormatting) -> JSONEncoder {
    let encoder = JSONEncoder()
    encoder.keyEncodingStrategy = .convertToSnakeCase
    encoder.outputFormatting = formatting
    return encoder
  }

  /// The value on one line.
  static func line(_ value: some Encodable) throws -> String {
    String(decoding: try encoder([.sortedKeys, .withoutEscapingSlashes]).encode(value), as: UTF8.self)
  }

  private static func pretty(_ value: some Encodable) throws -> String {
    let data = try encoder([.sortedKeys, .withoutEscapingSlashes, .prettyPrinted]).encode(value)
    return String(decoding: data, as: UTF8.self).replacing("\n", with: "\n  ")
  }
}

extension ReportJSON {
  /// Thrown to stop reading a report before its items.
  private struct EndOfHead: Error {}

  /// A stored report, whose items are read line by line.
  ///
  /// - Parameter eachLine: calls its argument with each line of the report, without its line feed. It can be called
  ///   several times.
  package static func source(
    lines eachLine: @escaping (_ body: (ArraySlice<UInt8>) throws -> Void) throws -> Void
  ) throws -> ReportSource {
    var head: [UInt8] = []
    var (isAtItems, hasItemLines) = (false, false)
    do {
      try eachLine { line in
        if isAtItems {
          // A program such as jq writes the same line before items of several lines.
          hasItemLines = line.last != UInt8(ascii: "{")
          guard !hasItemLines else { throw EndOfHead() }
        }
        isAtItems = line.elementsEqual(itemsLine.utf8)
        head += line
        head.append(0x0A)
      }
    } catch is EndOfHead {
      // The items are read when they are needed.
    }
    // A report that another program has formatted, or that lists no items, has no such line.
    guard hasItemLines else { return ReportSource(try decode(head)) }
    let record = try decode(head + Array("]}".utf8))
    return ReportSource(record) { body in
      var isItem = false
      try eachLine { line in
        guard isItem else {
          isItem = line.elementsEqual(itemsLine.utf8)
          return
        }
        var line = line.drop { $0 == 0x20 }
        guard line.first == UInt8(ascii: "{") else { return }
        if line.last == UInt8(ascii: ",") { line.removeLast() }
        try body(decode(RunRecord.ItemRecord.self, from: line).received())
      }
    }
  }
}
