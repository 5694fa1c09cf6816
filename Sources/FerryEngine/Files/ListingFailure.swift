import FerryTransfer

/// Why no listing could be made at all.
package struct ListingFailure: Error, Hashable, Sendable, CustomStringConvertible {
  package var message: String
  /// What a person does about it, where that is more than to mend what is written.
  var remedy: String?
  package var description: String { message }

  /// The root cannot be listed.
  ///
  /// - Parameter code: an error number.
  static func root(_ root: [UInt8], _ code: Int32) -> Self { .root(root, .system(code)) }

  /// The root cannot be opened.
  static func root(_ root: [UInt8], _ failure: FolderPath.Failure) -> Self {
    .init(
      message: "cannot list \(FileLister.text(root)): \(failure.reason)",
      remedy:
        "make it a folder that can be read, or change 'root' of the upload; --only leaves that upload out")
  }
}
