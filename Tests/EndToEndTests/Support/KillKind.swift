import Foundation
import Testing

/// The kinds of jobs that are killed, with the options and faults of the server.
enum KillKind: String, CaseIterable, CustomTestStringConvertible {
  /// Upload IDs that do not expire during the job, so that every recorded ID is used again.
  case uploads
  /// Upload IDs that expire during the job.
  case expiring
  case puts
  /// POST requests, which cannot be repeated.
  case posts
  case fetches

  var testDescription: String { rawValue }

  /// The session that contains the items.
  var session: String { self == .fetches ? "e2e.fetches" : "e2e.uploads" }

  /// Options of the receiver's command line. Tokens expire before the job ends.
  var options: [String] {
    ["--require-token", "--client-secret", Workspace.secret, "--token-life", "1.5"]
      + (self == .expiring ? ["--upload-life", "1"] : [])
  }

  /// - Parameter lateness: the delay of each response, in seconds.
  func faults(lateness: Double) -> [String] {
    let faults =
      switch self {
      case .uploads, .expiring:
        [
          "content:every=23,drop=before", "content:every=19,drop=after",
          "commit:every=17,drop=before,cut=close", "commit:every=13,drop=after",
          "allocate:every=29,status=500", "content:every=31,status=500", "commit:every=37,status=501",
        ]
      case .puts: ["file:every=23,drop=before", "file:every=19,drop=after", "file:every=31,status=500"]
      case .posts:
        ["inbox:every=43,drop=before", "inbox:every=37,drop=after,cut=close", "inbox:every=31,status=425"]
      case .fetches: ["file:every=23,drop=before", "file:every=19,drop=after", "file:every=31,status=500"]
      }
    // If several faults match a request, the first one applies, so faults that match every request come last.
    let late =
      switch self {
      case .uploads, .expiring: ["allocate", "content", "commit"]
      case .puts, .fetches: ["file"]
      case .posts: ["inbox"]
      }
    return faults + ["token:every=7,status=503"] + late.map { "\($0):delay=\(lateness)" }
  }

  func manifest(server: String, names: [String]) -> String {
    let nodes =
      switch self {
      case .uploads, .expiring: JobText.uploadIDs()
      case .puts: Self.withToken(JobText.puts)
      case .posts: Self.withToken(JobText.posts)
      case .fetches: Self.fetches(names)
      }
    return JobText.text(server: server, connections: 2, refresh: "before_expiry: 300ms", nodes)
      .replacing(
        "  quick: {", with: "  fetches: { kind: background, max_connections_per_host: 2 }\n  quick: {")
  }

  private static func withToken(_ nodes: String) -> String {
    nodes.replacing("    session: uploads\n", with: "    session: uploads\n    token: login\n")
  }

  /// A fetch for each file.
  private static func fetches(_ names: [String]) -> String {
    "fetches:\n"
      + names.map { name in
        """
          \(name):
            session: fetches
            token: login
            request: { url: "${vars.api}/files/\(name)" }
            save_to: fetched/\(name)
            \(JobText.retry)
        """
      }.joined(separator: "\n")
  }
}
