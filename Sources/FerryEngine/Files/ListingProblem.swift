/// A path that could not be listed.
package struct ListingProblem: Hashable, Sendable {
  package enum Kind: Hashable, Sendable {
    case permission, notRegular, missing
    /// A listed path outside the root: through `..`, as an absolute path, or through a link.
    case outsideRoot
    /// A link out of the root that matched a glob; such links are not followed.
    case leavingLink
    /// A link of one user to a file of another that matched a glob; such links are not followed.
    case foreignLink
    /// A path inside the folder that `after: move_to` moves delivered files to.
    case putAway
    /// A path inside ferry's state folder.
    case stateFolder
    /// A temporary file of ferry, which may be incomplete.
    case temporary
    case other
  }

  /// Relative to the root, or as written in an explicit list.
  package var path: [UInt8]
  package var kind: Kind
  package var message: String
}

extension ListingProblem {
  /// Whether a requested file is not delivered because of the problem. Otherwise, the file is skipped as documented.
  var isFailure: Bool {
    switch kind {
    case .permission, .notRegular, .missing, .outsideRoot, .other: true
    case .leavingLink, .foreignLink, .putAway, .stateFolder, .temporary: false
    }
  }
}
