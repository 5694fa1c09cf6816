import FerryEngine
import FerryManifest

/// The text output of `ferry check`.
enum CheckText {
  /// Manifests with diagnostics are separated from others by empty lines.
  static func text(_ readings: [(path: String, reading: Job.Reading)]) -> String {
    var text = ""
    var wasClean = true
    for (path, reading) in readings {
      let isClean = reading.diagnostics.isEmpty
      if !text.isEmpty, !isClean || !wasClean { text += "\n" }
      text += self.text(reading, path: path)
      wasClean = isClean
    }
    return text
  }

  private static func text(_ reading: Job.Reading, path: String) -> String {
    var text = ""
    if !reading.diagnostics.isEmpty {
      text += DiagnosticFormatter(sources: reading.sources, isColored: Output.isProductColored)
        .text(reading.diagnostics)
    }
    guard reading.job != nil else { return text }
    let warnings = reading.diagnostics.count
    if warnings > 0 { text += "\n" }
    text += "\(path): ok"
    text += warnings == 0 ? "\n" : ", with \(warnings) warning\(warnings == 1 ? "" : "s")\n"
    return text + needs(reading.needs)
  }

  /// The inputs, one per line, in aligned columns.
  private static func needs(_ needs: [ExternalInput]) -> String {
    let rows = needs.map {
      ["\(kind($0)) \($0.name)", state($0), "(\($0.location))\($0.description.map { "  \($0)" } ?? "")"]
    }
    let widths = (0..<2).map { column in rows.map { $0[column].count }.max() ?? 0 }
    return rows.map { row in
      let cells = zip(row, widths).map { $0 + String(repeating: " ", count: $1 - $0.count) }
      return "  needs  \(cells.joined(separator: "  "))  \(row[2])\n"
    }
    .joined()
  }

  private static func kind(_ need: ExternalInput) -> String {
    switch need.kind {
    case .environment: "environment"
    case .file: "file"
    case .variable: "variable"
    }
  }

  private static func state(_ need: ExternalInput) -> String {
    let state: String
    switch need.kind {
    case .environment: state = need.isSet ? "set" : need.hasDefault ? "not set, but has a default" : "not set"
    case .file: state = need.isSet ? "can be read" : "cannot be read"
    case .variable:
      state = "\(need.type ?? "string"), " + (need.isSet ? "given" : "not given")
    }
    return need.isSecret ? "secret, \(state)" : state
  }
}
