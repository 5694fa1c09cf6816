/// The received data, in the form of `GET /received`.
///
/// It lists the executed requests, whether or not their responses were delivered.
package struct Listing: Codable, Equatable, Sendable {
  /// The requests for one name through upload IDs. `size` and `sha256` describe the latest commit and are
  /// absent before the first.
  package struct Upload: Codable, Equatable, Sendable {
    package var name: String
    package var size: Int?
    package var sha256: String?
    /// The number of executed commits, including those whose response (200) was not delivered.
    package var commits = 0
    /// The number of complete bodies that were received and stored.
    package var contents = 0
    /// The number of upload IDs issued.
    package var allocations = 0
    /// The number of those IDs that are still held: neither committed nor abandoned, expired or not.
    package var open = 0
  }

  /// A file stored with PUT; `name` is its percent-decoded path.
  package struct File: Codable, Equatable, Sendable {
    package var name: String
    package var size: Int
    package var sha256: String
    /// The number of executed PUT requests for the file.
    package var puts: Int
  }

  /// One post to the inbox.
  package struct Post: Codable, Equatable, Sendable {
    package var name: String
    package var size: Int
    package var sha256: String
  }

  /// The uploads, ordered by name.
  package var uploads: [Upload]
  /// The files, ordered by name.
  package var files: [File]
  /// The posts, in the order of arrival.
  package var inbox: [Post]
  /// The bodies of `POST /done`, in the order of arrival.
  package var done: [JSONValue]
  /// The number of received requests, including requests with faults. Requests for the listing and the
  /// faults are not counted.
  package var requests: Int
  /// The number of access tokens issued.
  package var tokens: Int
}
