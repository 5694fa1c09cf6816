import FerryPlan

/// A path that could not be listed.
package struct ListingProblem: Hashable, Sendable {
  package enum Kind: Hashable, Sendable {
    case permission, notRegular, missing
    /// A listed path is outside the root: through `..`, as an absolute path, or through a link.
    case outsideRoot
    /// A link that leads out of the root matched a glob. Such links are not followed.
    case leavingLink
    /// One user's link to another user's file matched a glob. Such links are not followed.
    case foreignLink
    /// The path is in the folder to which `after: move_to` moves delivered files.
    case putAway
    /// The path is in ferry's state folder.
    case stateFolder
    /// The path is in a folder that looks like the state folder of a shard (`StateFolder.Membership.unknown`).
    case unknownState
    /// The path is a temporary file of ferry, which may be incomplete.
    case temporary
    case other
  }

  /// The path, relative to the root, or as written in an explicit list.
  package var path: [UInt8]
  package var kind: Kind
  package var message: String
  /// The code of the failure if the root itself cannot be opened; otherwise `nil`.
  package var root: FailureCode?
}

extension ListingProblem {
  /// Whether a requested file is not delivered because of the problem. Otherwise, the file is skipped as documented.
  var isFailure: Bool {
    switch kind {
    case .permission, .notRegular, .missing, .outsideRoot, .unknownState, .other: true
    case .leavingLink, .foreignLink, .putAway, .stateFolder, .temporary: false
    }
  }
}
