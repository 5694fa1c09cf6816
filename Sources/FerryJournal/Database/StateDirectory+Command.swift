extension StateDirectory {
  /// A command line that the user can paste in any folder. It contains `--state` if the user or `$FERRY_STATE`
  /// specified the state folder.
  ///
  /// - Parameters:
  ///   - words: the words after `ferry`: the command's name and its arguments.
  ///   - options: the command's options, each with its value.
  package func command(_ words: [String], options: [(name: String, value: String)] = []) -> String {
    let place = isNamed ? [(name: "--state", value: AbsolutePath.text(of: path))] : []
    return Self.command(words, options: options + place)
  }

  /// A command line for a file in a state folder that is known only by its path.
  static func command(_ words: [String], inFolder path: String) -> String {
    command(words, options: [(name: "--state", value: AbsolutePath.text(of: path))])
  }

  private static func command(_ words: [String], options: [(name: String, value: String)]) -> String {
    let options = options.flatMap { option in
      isDashed(option.value) ? ["\(option.name)=\(option.value)"] : [option.name, option.value]
    }
    guard words.contains(where: isDashed) else { return ShellWord.line(["ferry"] + words + options) }
    // After `--`, no word is interpreted as an option.
    // The command's name may consist of two words.
    let name = words.prefix { !isDashed($0) }
    return ShellWord.line(["ferry"] + name + options + ["--"] + words.dropFirst(name.count))
  }

  private static func isDashed(_ word: String) -> Bool { word.utf8.first == UInt8(ascii: "-") }
}
