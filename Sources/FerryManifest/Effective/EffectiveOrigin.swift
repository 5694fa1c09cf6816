/// The origin of a value in an effective manifest.
enum EffectiveOrigin: Hashable, Sendable {
  /// The value is written in a file; `use` is the location of the alias that inserted the value.
  case written(file: String, line: Int, use: Use?)
  /// A default that differs between profiles.
  case profile(Profile)
  /// A default of every profile.
  case builtIn

  struct Use: Hashable, Sendable {
    var file: String
    var line: Int
  }

  init(_ location: SourceLocation, use: SourceLocation?) {
    self = .written(
      file: location.file, line: location.line, use: use.map { Use(file: $0.file, line: $0.line) })
  }
}

extension EffectiveOrigin: CustomStringConvertible {
  /// The origin on one line, even if the file name contains line breaks.
  var description: String {
    switch self {
    case .written(let file, let line, nil): return "\(WrittenScalar.escaped(file)):\(line)"
    case .written(let file, let line, .some(let use)):
      let place = use.file == file ? "\(use.line)" : "\(WrittenScalar.escaped(use.file)):\(use.line)"
      return "\(WrittenScalar.escaped(file)):\(line), by the alias at \(place)"
    case .profile(let profile): return "profile \(profile.rawValue)"
    case .builtIn: return "built in"
    }
  }
}
