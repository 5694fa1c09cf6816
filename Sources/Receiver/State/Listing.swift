/// What has been received, as `GET /received` shows it.
///
/// It tells what was done, whether or not anyone was told.
package struct Listing: Codable, Equatable, Sendable {
  /// What happened to one name through upload IDs. `size` and `sha256` are of the newest commit and missing
  /// before the first.
  package struct Upload: Codable, Equatable, Sendable {
    package var name: String
    package var size: Int?
    package var sha256: String?
    /// How often a commit was carried out (answered with 200, if the answer got through).
    package var commits = 0
    /// How often a body was received whole and kept.
    package var contents = 0
    /// How often an upload ID was given out.
    package var allocations = 0
    /// How many of those are held still: neither committed nor abandoned, expired or not.
    package var open = 0
  }

  /// A file that was put; `name` is its path, percent-decoded.
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

  /// In the order of the names.
  package var uploads: [Upload]
  /// In the order of the names.
  package var files: [File]
  /// In the order in which they came.
  package var inbox: [Post]
  /// The bodies of `POST /done`, in the order in which they came.
  package var done: [JSONValue]
  /// How many requests came in, those with faults included; the listing's and the faults' are not counted.
  package var requests: Int
  /// How many access tokens were given out.
  package var tokens: Int
}
