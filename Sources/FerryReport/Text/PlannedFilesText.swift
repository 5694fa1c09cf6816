import FerryPlan

/// Formats the files that a run would send.
package enum PlannedFilesText {
  /// One file as a line of text.
  package static func line(_ file: PlannedFile) -> [UInt8] {
    let words =
      switch file.reason {
      case .new: ""
      case .again: "  (again)"
      case .unfinished: "  (unfinished)"
      }
    return Array("\(file.node)  \(DisplayPath.shown(file.path))  \(ByteText.text(file.size))\(words)\n".utf8)
  }

  /// One file as JSON on one line.
  package static func json(_ file: PlannedFile) -> [UInt8] {
    var line = JSONLine()
    line.add("node", file.node)
    line.add("path", String(decoding: file.path, as: UTF8.self))
    line.add("path_base64", DisplayPath.base64(file.path))
    line.add("size", file.size)
    line.add("modified_at", Instant(nanoseconds: file.modified))
    line.add("reason", file.reason.rawValue)
    return line.bytes + [0x0A]
  }
}
