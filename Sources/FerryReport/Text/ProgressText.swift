import FerryPlan

/// The progress of a run as lines for a terminal.
package enum ProgressText {
  /// The numbers of a run so far.
  package struct Figures: Sendable {
    package var done: Int
    package var open: Int
    /// Whether files are still being listed, so that `open` will increase.
    package var isListing: Bool
    package var failed: Int
    package var bytes: Int64
    package var seconds: Double
    /// What the run waits for, if no request is in progress.
    package var pause: NodeActivity?

    package init(
      done: Int, open: Int, isListing: Bool = false, failed: Int, bytes: Int64, seconds: Double,
      pause: NodeActivity?
    ) {
      self.done = done
      self.open = open
      self.isListing = isListing
      self.failed = failed
      self.bytes = bytes
      self.seconds = seconds
      self.pause = pause
    }
  }

  /// The line for the whole run.
  ///
  /// - Parameter columns: the columns of a terminal. If the whole line does not fit, the least important parts are
  ///   omitted.
  package static func line(_ figures: Figures, columns: Int = .max) -> String {
    let seconds = max(0.001, figures.seconds)
    let total = (figures.isListing ? "at least " : "") + "\(figures.done +| figures.open)"
    // The part with the lowest rank is the most important one.
    var parts: [(rank: Int, text: String)] = [
      (0, "\(figures.done) of \(total) items"), (5, ByteText.text(figures.bytes)),
      (4, "\(ByteText.text(Int64(clamping: Double(figures.bytes) / seconds)))/s"),
    ]
    if figures.done > 0, figures.open > 0, !figures.isListing {
      parts.append(
        (3, "\(ElapsedText.text(seconds / Double(figures.done) * Double(figures.open))) left"))
    }
    if figures.failed > 0 { parts.append((1, "\(figures.failed) failed")) }
    if let pause = figures.pause { parts.append((2, words(pause))) }
    func line() -> String { parts.map(\.text).joined(separator: ", ") }
    while width(line()) > columns, let least = parts.indices.max(by: { parts[$0].rank < parts[$1].rank }),
      parts.count > 1
    {
      parts.remove(at: least)
    }
    return width(line()) > columns
      ? fitted("\(figures.done)/\(figures.done +| figures.open)", columns: columns) : line()
  }

  /// The line for a request in progress.
  ///
  /// - Parameter columns: the columns of a terminal. If the whole line does not fit, the size, the step and the time are
  ///   omitted in terminals that are too narrow for them, and the name is shortened.
  package static func line(_ request: ActiveRequest, columns: Int = .max) -> String {
    let path = request.path.map { "/" + DisplayPath.shown($0, base64: request.pathBase64) } ?? ""
    let name = DisplayPath.line(request.node) + path
    let (step, time) = ("  \(request.step.rawValue)  ", "  " + ElapsedText.text(request.seconds))
    var (advance, size) = ("", "")
    if let bytes = request.size, request.step == .transfer {
      let share = bytes > 0 ? max(0, min(1, Double(request.bytes) / Double(bytes))) : 1
      (advance, size) = ("  \(Int(share * 100))%", " of \(ByteText.text(bytes))")
    } else if request.bytes > 0 {
      advance = "  " + ByteText.text(request.bytes)
    }
    let line = step + name + advance + size + time
    guard width(line) > columns else { return line }
    let start = columns < 56 ? "  " : step
    let end =
      columns < 32
      ? (advance.isEmpty ? time : advance) : columns < 72 ? advance + time : advance + size + time
    let space = columns - width(start) - width(end)
    return fitted(start + fitted(name, columns: space) + end, columns: columns)
  }

  private static func words(_ pause: NodeActivity) -> String {
    switch pause {
    case .retrying: "waiting to retry"
    case .token: "waiting for a token"
    case .budget: "waiting for the budget"
    case .delay: "waiting for the resume delay"
    case .conditions: "waiting for the network or power"
    case .queued, .allocating, .sending, .committing, .requesting: "waiting"
    }
  }

  /// The line if it fits in a number of columns; otherwise its beginning and its end, with `…` in between.
  package static func fitted(_ line: String, columns: Int) -> String {
    guard width(line) > columns else { return line }
    guard columns > 1 else { return "" }
    let scalars = Array(line.unicodeScalars)
    let (head, tail) = ((columns - 1) - (columns - 1) / 3, (columns - 1) / 3)
    func taken(_ scalars: some Sequence<Unicode.Scalar>, _ columns: Int) -> Int {
      var (count, used) = (0, 0)
      for scalar in scalars {
        used += width(scalar)
        guard used <= columns else { break }
        count += 1
      }
      return count
    }
    var result = String.UnicodeScalarView()
    result.append(contentsOf: scalars.prefix(taken(scalars, head)))
    result.append("…")
    var end = scalars.suffix(taken(scalars.reversed(), tail))
    // A combining mark would be combined with the ellipsis.
    while let first = end.first, width(first) == 0 { end.removeFirst() }
    result.append(contentsOf: end)
    return String(result)
  }

  /// The lines of text that fit on a screen; if some do not fit, the last line states their number.
  package static func screen(_ text: String, columns: Int, rows: Int) -> [String] {
    var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    if lines.last?.isEmpty == true { lines.removeLast() }
    // The cursor is below the last line.
    let space = max(1, rows - 1)
    if lines.count > space {
      let hidden = lines.count - space + 1
      lines = lines.prefix(space - 1) + ["… \(Count.text(hidden, "more line"))"]
    }
    return lines.map { fitted($0, columns: columns - 1) }
  }

  /// The beginning of a line, with `…` at its end if the line is longer than a number of columns.
  static func cut(_ line: String, columns: Int) -> String {
    guard width(line) > columns else { return line }
    var (result, used) = (String.UnicodeScalarView(), 1)
    for scalar in line.unicodeScalars {
      used += width(scalar)
      guard used <= columns else { break }
      result.append(scalar)
    }
    return String(result) + "…"
  }

  /// The number of columns that a terminal uses for a line.
  package static func width(_ line: String) -> Int { line.unicodeScalars.reduce(0) { $0 + width($1) } }

  /// The columns of a character: 2 for East Asian wide characters (UAX 11) and emoji, 0 for combining marks.
  private static func width(_ scalar: Unicode.Scalar) -> Int {
    switch scalar.value {
    case 0..<0x300: return 1
    case 0x200B...0x200F, 0xFE00...0xFE0F, 0xE0100...0xE01EF: return 0
    case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0x33FF, 0x3400...0x4DBF, 0x4E00...0x9FFF, 0xA000...0xA4CF,
      0xA960...0xA97C, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6,
      0x1F300...0x1F64F, 0x1F680...0x1F6FF, 0x1F900...0x1F9FF, 0x1FA70...0x1FAFF, 0x20000...0x3FFFD:
      return 2
    default:
      switch scalar.properties.generalCategory {
      case .nonspacingMark, .enclosingMark: return 0
      default: return 1
      }
    }
  }
}
