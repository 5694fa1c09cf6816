/// Work that cannot continue because the manifest was edited. The JSON keys are a stable public interface.
package struct EditEffect: Hashable, Codable, Sendable {
  package enum Code: String, Codable, Sendable {
    /// The manifest no longer has this upload.
    case uploadGone = "upload_gone"
    /// The manifest no longer has this request or fetch, which may have been executed.
    case requestGone = "request_gone"
    /// The upload now uses another server.
    case otherOrigin = "other_origin"
    /// The upload now belongs to a different session.
    case otherSession = "other_session"
    /// The manifest now has a different name.
    case otherName = "other_name"
    /// Upload IDs were dropped because the manifest's steps now need values that were not captured.
    case uploadIDs = "upload_ids_dropped"
  }

  package var code: Code
  /// The manifest's name in the journal.
  package var manifest: String
  /// The name of the upload, download batch, request or fetch.
  package var upload: String
  package var session: String
  /// The scheme, host and port.
  package var origin: String?
  /// The number of affected files; 1 for a request or fetch.
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
