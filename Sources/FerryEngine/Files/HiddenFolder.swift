import FerryJournal

/// The folder to which delivered files are moved. Its files are not listed.
struct HiddenFolder {
  /// The path relative to the root, without a trailing slash.
  let path: [UInt8]
  /// Identifies the folder even if it is also mounted at another path; `nil` if the folder does not exist yet.
  let identity: FolderIdentity?
}
