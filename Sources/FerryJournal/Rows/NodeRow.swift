import FerryPlan

/// The journal's record of an upload, a fetch or a request at one origin.
package struct NodeRow: Hashable, Sendable {
  /// The raw values are persisted and must never be reused.
  package enum Kind: UInt8, CaseIterable, Sendable {
    case upload = 1
    case fetch = 2
    case request = 3
    case download = 4

    /// Whether rows of this kind have items.
    package var hasItems: Bool {
      switch self {
      case .upload, .download: true
      case .fetch, .request: false
      }
    }

    /// An SQL condition that is true for rows that have items.
    static let ofItems = "kind IN (\(list(allCases.filter(\.hasItems))))"
    /// An SQL condition that is true for rows whose kind is unknown.
    static let unknown = "kind NOT IN (\(list(allCases)))"

    private static func list(_ kinds: [Kind]) -> String {
      kinds.map { "\($0.rawValue)" }.joined(separator: ", ")
    }
  }

  package struct Failing: Hashable, Sendable {
    package var round: Int64
    package var since: Instant
  }

  /// The row's ID; 0 if the journal was opened for reading and does not contain the node.
  package var id: Int64
  package var manifest: String
  package var name: String
  package var kind: Kind
  /// The scheme, host and port.
  package var origin: String
  /// The scheme, host and port of the node's first request; `nil` if a capture determines them. The `origin`
  /// of a fetch contains additional data.
  package var server: String? {
    let server = origin.prefix { $0 != " " }
    return server.isEmpty ? nil : String(server)
  }
  /// The round of the last attempt; 0 before the first attempt.
  package var round: Int64
  package var state: ItemState
  /// Whether an unrepeatable attempt was about to be sent and its response is not recorded.
  package var hasIntent: Bool
  /// Whether the node is a request or fetch that may have been executed, and whose outcome is unknown.
  package var isInDoubt: Bool { !kind.hasItems && (state == .ambiguous || (hasIntent && !state.isClosed)) }
  package var closedAt: Instant?
  /// The time at which the last attempt of a fetch failed; `nil` after a success.
  package var failedAt: Instant?
  /// The last round in which the node failed and remained open, and the time of its first failure in that round.
  package var failing: Failing?
  package var fetch: FetchRecord?
  package var captures: [CapturedValue]
  package var failure: RecordedFailure?
  /// For an upload, the step from which data under an upload ID may count as delivered; `nil` in rows of new
  /// nodes and of schema 4.
  package var countingPoint: CountingPoint?
}
