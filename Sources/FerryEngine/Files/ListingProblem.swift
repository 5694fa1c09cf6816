/// A path that could not be listed.
package struct ListingProblem: Hashable, Sendable {
  package enum Kind: Hashable, Sendable {
    case permission, notRegular, missing
    /// A list names it, and it leaves the root, by `..`, as an absolute path, or through a link.
    case outsideRoot
    /// A link out of the root that a glob met; such links are not followed.
    case leavingLink
    /// A link that one user has made to a file of another, which a glob met; such links are not followed.
    case foreignLink
    /// It is where `after: move_to` puts delivered files.
    case putAway
    case other
  }

  /// Relative to the root, or as an explicit list has it.
  package var path: [UInt8]
  package var kind: Kind
  package var message: String
}

extension ListingProblem {
  /// Whether something was asked for and is not delivered because of it; otherwise it is left out as documented.
  var isFailure: Bool {
    switch kind {
    case .permission, .notRegular, .missing, .outsideRoot, .other: true
    case .leavingLink, .foreignLink, .putAway: false
    }
  }
}
