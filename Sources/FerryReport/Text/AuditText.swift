import FerryPlan

/// The text output of `ferry journal check`.
package enum AuditText {
  package static func text(_ document: AuditDocument) -> String {
    guard !document.files.isEmpty else {
      return "\(DisplayPath.shown(document.state)): there is no journal yet\n"
    }
    return document.files.map(text).joined()
  }

  private static func text(_ file: AuditDocument.File) -> String {
    let name = file.session.map { "session \($0)" } ?? "ferry.db"
    guard !file.sound else { return "\(name): sound\(contents(file))\n" }
    var lines = [
      "\(name): \(Count.text(file.findings.count, "problem"))"
    ]
    lines.append("  file: \(DisplayPath.shown(file.file))")
    for finding in file.findings {
      lines.append("  \(finding.code): \(DisplayPath.line(finding.message))")
      lines.append("    effect: \(DisplayPath.line(finding.effect))")
      lines.append("    help: \(DisplayPath.line(finding.remedy))")
    }
    return lines.joined(separator: "\n") + "\n"
  }

  private static func contents(_ file: AuditDocument.File) -> String {
    let tables = file.session == nil ? ["job", "round", "run"] : ["node", "item"]
    let parts = tables.compactMap { table in
      file.rows[table].map { Count.text($0, table) }
    }
    return parts.isEmpty ? "" : ", " + parts.joined(separator: ", ")
  }
}
