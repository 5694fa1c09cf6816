/// What an edit of the manifest keeps from going on. Its keys are an interface.
package struct EditEffect: Hashable, Codable, Sendable {
  package enum Code: String, Codable, Sendable {
    /// The manifest has no such upload any more.
    case uploadGone = "upload_gone"
    /// The upload goes to another server now.
    case otherOrigin = "other_origin"
    /// The upload lives in another session now.
    case otherSession = "other_session"
    /// The manifest has another name now.
    case otherName = "other_name"
    /// Upload IDs of which the manifest's steps ask for what was not captured.
    case uploadIDs = "upload_ids_dropped"
  }

  package var code: Code
  /// The name under which the journal has it.
  package var manifest: String
  package var upload: String
  package var session: String
  /// Scheme, host and port.
  package var origin: String?
  /// Files that it is about.
  package var items: Int
  package var message: String

  package init(
    _ code: Code, manifest: String, upload: String, session: String, origin: String? = nil, items: Int,
    message: String
  ) {
    self.code = code
    self.manifest = manifest
    self.upload = upload
    self.session = session
    self.origin = origin
    self.items = items
    self.message = message
  }
}
