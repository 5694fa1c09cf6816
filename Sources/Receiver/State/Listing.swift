/// What has been received, in the form of `GET /received`.
///
/// It lists what was executed, whether or not a response was delivered.
package struct Listing: Codable, Equatable, Sendable {
  /// What happened to one name through upload IDs. `size` and `sha256` describe the newest commit and are
  /// absent before the first.
  package struct Upload: Codable, Equatable, Sendable {
    package var name: String
    package var size: Int?
    package var sha256: String?
    /// How often a commit was executed (response 200, if the response was delivered).
    package var commits = 0
    /// How often a complete body was received and kept.
    package var contents = 0
    /// How often an upload ID was issued.
    package var allocations = 0
    /// How many of those are still held: neither committed nor abandoned, expired or not.
    package var open = 0
  }

  /// A file that was put; `name` is its percent-decoded path.
  package struct File: Codable, Equatable, Sendable {
    package var name: String
    package var size: Int
    package var sha256: String
    /// How often it was put.
    package var puts: Int
  }

  /// One post to the inbox.
  package struct Post: Codable, Equatable, Sendable {
    package var name: String
    package var size: Int
    package var sha256: String
  }

  /// Ordered by name.
  package var uploads: [Upload]
  /// Ordered by name.
  package var files: [File]
  /// In the order of arrival.
  package var inbox: [Post]
  /// The bodies of `POST /done`, in the order of arrival.
  package var done: [JSONValue]
  /// The number of requests received, including those with faults. Requests of the listing and the faults are
  /// not counted.
  package var requests: Int
  /// The number of access tokens issued.
  package var tokens: Int
}
