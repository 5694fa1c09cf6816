import FerryJournal
import FerryPlan
import Foundation

/// A line of a crontab(5) that runs ferry once.
package struct CrontabLine {
  private var words: [String]
  private var folder: String

  /// - Parameters:
  ///   - state: the state folder, if cron would not find it by default.
  ///   - variableFiles: paths, absolute or relative to the current working directory.
  package init(manifest: String, state: String?, variables: [String: String], variableFiles: [String] = []) {
    let file = SplitPath(AbsolutePath.text(of: manifest))
    folder = file.folder
    let name = file.name
    words = ["ferry", "run", name.utf8.first == UInt8(ascii: "-") ? "./" + name : name]
    if let state { words += ["--state", AbsolutePath.text(of: state)] }
    for path in variableFiles {
      words += ["--vars-file", AbsolutePath.text(of: path)]
    }
    for (name, value) in variables.sorted(by: { $0.key < $1.key }) { words += ["--var", "\(name)=\(value)"] }
  }

  /// Returns the crontab(5) line that starts the run at the given time.
  ///
  /// - Throws: `UsageError` if the command does not fit on one line.
  package func text(at moment: Instant, in zone: CalendarZone) throws(UsageError) -> String {
    let command =
      "cd \(ShellWord.quoted(folder)) && \(ShellWord.line(words))"
    let hasControl = command.unicodeScalars.contains { $0.properties.generalCategory == .control }
    guard !hasControl, !command.contains(where: \.isNewline) else {
      throw UsageError(
        "a path or variable contains a line break or control character, which a crontab cannot contain")
    }
    // In crontab(5), an unescaped % ends the line, even inside quotes. Escape scalars, not characters: a
    // combining scalar after a % forms one character with it.
    var escaped = String.UnicodeScalarView()
    for scalar in command.unicodeScalars {
      // Many cron programs also replace two backslashes with one, so `\\%` would end the line. A backslash is always
      // inside quotes; closing and opening them separates it from the next one.
      if scalar == "%" || scalar == "\\", escaped.last == "\\" {
        escaped.append(contentsOf: "''".unicodeScalars)
      }
      if scalar == "%" { escaped.append("\\") }
      escaped.append(scalar)
    }
    return "\(moment.cronFields(in: zone)) \(escaped)"
  }
}
