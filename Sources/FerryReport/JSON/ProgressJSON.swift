import FerryPlan

/// The progress that a run publishes, as a file of one line.
package enum ProgressJSON {
  /// The largest size of the file in bytes. A path has at most 4,096 bytes; its JSON and Base64 forms may be
  /// several times as long.
  package static let limit = 1 << 20

  package static func encode(_ progress: RunProgress) throws -> [UInt8] {
    PrintableJSON.escaping(try ReportJSON.line(progress).utf8) + [0x0A]
  }

  package static func decode(_ bytes: [UInt8]) throws -> RunProgress {
    try ReportJSON.decode(RunProgress.self, from: bytes)
  }
}
