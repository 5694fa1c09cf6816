import FerryPlan
import FerryTransfer
import Foundation

/// The reason why files could not be listed at all.
package struct ListingFailure: Error, Hashable, Sendable, CustomStringConvertible {
  package var message: String
  /// The remedy; `nil` if the user only has to correct the manifest.
  var remedy: String?
  /// The failure that is recorded for the upload's files if the upload's root is the reason.
  var root: RecordedFailure?
  package var description: String { message }

  /// The root cannot be listed.
  ///
  /// - Parameter code: an error number.
  static func root(_ root: [UInt8], _ code: Int32) -> Self { .root(root, .system(code)) }

  private static func recorded(_ root: String, _ failure: FolderPath.Failure) -> RecordedFailure {
    let message = "cannot list \(root): \(failure.reason)"
    switch failure {
    case .system(ENOENT):
      return .init(
        code: .rootMissing,
        message: message + "; the folder was moved or removed, or its file system is not mounted")
    case .system(ENOTDIR): return .init(code: .rootMissing, message: message)
    case .system, .foreign, .severalNames: return .init(code: .rootUnreadable, message: message)
    }
  }

  /// The root cannot be opened.
  static func root(_ root: [UInt8], _ failure: FolderPath.Failure) -> Self {
    .init(
      message: "cannot list \(DisplayPath.shown(root)): \(failure.reason)",
      remedy:
        "make it a readable folder, or change the upload's 'root'; use --only to skip the upload",
      root: recorded(DisplayPath.shown(root), failure))
  }
}
