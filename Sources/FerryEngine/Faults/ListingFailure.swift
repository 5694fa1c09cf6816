import FerryPlan
import FerryTransfer

/// The reason why files could not be listed at all.
package struct ListingFailure: Error, Hashable, Sendable, CustomStringConvertible {
  package var message: String
  /// The remedy; `nil` if the user only has to correct the manifest.
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
        "make it a readable folder, or change the upload's 'root'; use --only to skip the upload")
  }
}
