extension Unicode.Scalar {
  /// Whether the character is interpreted by a terminal, or hides or reorders text: control characters, line
  /// separators, characters that control the writing direction, and characters without a visible form.
  ///
  /// Joiners and the variation selectors of emoji are not included, because emoji and some scripts need them.
  package var isHostile: Bool {
    switch self {
    case "\u{200C}", "\u{200D}", "\u{FE0E}", "\u{FE0F}": return false
    // A braille pattern without dots.
    case "\u{2800}": return true
    default: break
    }
    switch properties.generalCategory {
    case .control, .lineSeparator, .paragraphSeparator, .surrogate, .format: return true
    default: return properties.isDefaultIgnorableCodePoint
    }
  }
}
