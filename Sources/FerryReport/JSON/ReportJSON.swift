import FerryPlan
import Foundation

/// Encodes a RunRecord as `report.json`. Items are encoded individually, one per line. Keys are the names of
/// the properties in snake_case, so a new property does not require a change here.
package enum ReportJSON {
  package static func encode(_ record: RunRecord) throws -> [UInt8] {
    var output = "{\n"
    output += "  \"version\": \(record.version),\n"
    output += "  \"run\": \(try pretty(record.run)),\n"
    output += "  \"totals\": \(try pretty(record.totals)),\n"
    output += "  \"nodes\": \(try pretty(record.nodes)),\n"
    output += "  \"items\": ["
    var bytes = Array(output.utf8)
    let encoder = encoder([.sortedKeys, .withoutEscapingSlashes])
    for (index, item) in record.items.enumerated() {
      bytes.append(contentsOf: (index == 0 ? "\n    " : ",\n    ").utf8)
      bytes.append(contentsOf: try encoder.encode(item))
    }
    bytes.append(contentsOf: (record.items.isEmpty ? "]\n}\n" : "\n  ]\n}\n").utf8)
    return PrintableJSON.escaping(bytes)
  }

  package static func decode(_ bytes: [UInt8]) throws -> RunRecord {
    let decoder = JSONDecoder()
    decoder.keyDecodingStrategy = .convertFromSnakeCase
    return try decoder.decode(RunRecord.self, from: Data(bytes))
  }

  private static func encoder(_ formatting: JSONEncoder.OutputFormatting) -> JSONEncoder {
    let encoder = JSONEncoder()
    encoder.keyEncodingStrategy = .convertToSnakeCase
    encoder.outputFormatting = formatting
    return encoder
  }

  private static func pretty(_ value: some Encodable) throws -> String {
    let data = try encoder([.sortedKeys, .withoutEscapingSlashes, .prettyPrinted]).encode(value)
    return String(decoding: data, as: UTF8.self).replacing("\n", with: "\n  ")
  }
}
