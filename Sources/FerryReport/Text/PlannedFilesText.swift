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
    let size =
      switch file.version {
      case .listed where file.size == 0: "size unknown"
      case .listed, .modified: ByteText.text(file.size)
      }
    return Array("\(file.node)  \(DisplayPath.shown(file.path))  \(size)\(words)\n".utf8)
  }

  /// One file as JSON on one line.
  package static func json(_ file: PlannedFile) -> [UInt8] {
    var line = JSONLine()
    line.add("node", file.node)
    line.add("path", String(decoding: file.path, as: UTF8.self))
    line.add("path_base64", DisplayPath.base64(file.path))
    line.add("size", file.size)
    switch file.version {
    case .modified(let time): line.add("modified_at", Instant(nanoseconds: time))
    case .listed(let number): line.add("version", hexadecimal(number))
    }
    line.add("reason", file.reason.rawValue)
    return line.bytes + [0x0A]
  }

  /// The number of an item's version in the list of a download batch, as text, because many programs cannot read
  /// 64-bit integers.
  package static func hexadecimal(_ number: Int64) -> String {
    String(UInt64(bitPattern: number), radix: 16)
  }
}
