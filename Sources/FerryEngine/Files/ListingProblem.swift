/// A path that could not be listed.
package struct ListingProblem: Hashable, Sendable {
  package enum Kind: Hashable, Sendable {
    case permission, notRegular, missing
    /// It leaves the root, by `..`, as an absolute path, or through a link.
    case outsideRoot
    /// It is where `after: move_to` puts delivered files.
    case putAway
    case other
  }

  /// Relative to the root, or as an explicit list has it.
  package var path: [UInt8]
  package var kind: Kind
  package var message: String
}
