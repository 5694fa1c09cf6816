import FerryJournal

/// The folder to which delivered files are moved. Its files are not listed.
struct HiddenFolder {
  /// Relative to the root, without a trailing slash.
  let path: [UInt8]
  /// Recognizes it where it is mounted below another path; `nil` if it does not exist yet.
  let identity: FolderIdentity?
}
