extension StateDirectory {
  /// A command for a person to paste, good in any folder: it names the state folder, where ferry would not find that
  /// by itself.
  ///
  /// - Parameters:
  ///   - words: behind `ferry`: the command's name and what it is about.
  ///   - options: of the command, each with its value.
  package func command(_ words: [String], options: [(name: String, value: String)] = []) -> String {
    let place = isNamed ? [(name: "--state", value: AbsolutePath.text(of: path))] : []
    return Self.command(words, options: options + place)
  }

  /// A command for a file of a state folder of which no more is known than its path.
  static func command(_ words: [String], inFolder path: String) -> String {
    command(words, options: [(name: "--state", value: AbsolutePath.text(of: path))])
  }

  private static func command(_ words: [String], options: [(name: String, value: String)]) -> String {
    let options = options.flatMap { option in
      isDashed(option.value) ? ["\(option.name)=\(option.value)"] : [option.name, option.value]
    }
    guard words.contains(where: isDashed) else { return ShellWord.line(["ferry"] + words + options) }
    // Behind `--` nothing is an option.
    // The command's name may be two words.
    let name = words.prefix { !isDashed($0) }
    return ShellWord.line(["ferry"] + name + options + ["--"] + words.dropFirst(name.count))
  }

  private static func isDashed(_ word: String) -> Bool { word.utf8.first == UInt8(ascii: "-") }
}
