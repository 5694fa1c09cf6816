import FerryManifest

/// The text of `ferry cancel --reason`: one line without control or invisible characters.
package struct CancelReason: Hashable, Sendable {
  /// The maximum length in Unicode code points. Characters would not limit the size: a character may have any
  /// number of combining marks.
  package static let maximumLength = 200

  package let text: String

  /// The problem with a rejected text.
  package enum Refusal: Error, Hashable, Sendable, CustomStringConvertible {
    case empty
    case tooLong(Int)
    /// The text contains a line break, another control character, or an invisible character.
    case hostile

    package var description: String {
      switch self {
      case .empty: "it is empty"
      case .tooLong(let length): "it has \(length) characters, but at most \(maximumLength) are allowed"
      case .hostile: "it must be one line without control or invisible characters"
      }
    }
  }

  package init(_ text: String) throws(Refusal) {
    guard text.contains(where: { !$0.isWhitespace }) else { throw .empty }
    let length = text.unicodeScalars.count
    guard length <= Self.maximumLength else { throw .tooLong(length) }
    guard !text.unicodeScalars.contains(where: \.isHostile) else { throw .hostile }
    self.text = text
  }

  /// A reason from a journal. Its text is not checked: like every other message, it is escaped when it is
  /// shown.
  package init(recorded text: String) { self.text = text }
}
