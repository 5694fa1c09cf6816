import FerryPlan
import FerryTransfer

/// Why files could not be listed at all.
package struct ListingFailure: Error, Hashable, Sendable, CustomStringConvertible {
  package var message: String
  /// What the user can do about it, if that is more than correcting the manifest.
  var remedy: String?
  package var description: String { message }

  /// The root cannot be listed.
  ///
  /// - Parameter code: an error number.
  static func root(_ root: [UInt8], _ code: Int32) -> Self { .root(root, .system(code)) }

  /// The root cannot be opened.
  static func root(_ root: [UInt8], _ failure: FolderPath.Failure) -> Self {
    .init(
      message: "cannot list \(DisplayPath.shown(root)): \(failure.reason)",
      remedy:
        "make it a folder that can be read, or change 'root' of the upload; --only leaves that upload out")
  }
}
