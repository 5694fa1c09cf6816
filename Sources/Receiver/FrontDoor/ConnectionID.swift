/// A client's connection, as the front door numbers them; never used twice in one run.
struct ConnectionID: Hashable, Sendable {
  /// The field that tells a handler on which connection its request came in.
  static let header = "Receiver-Connection"

  let rawValue: UInt64

  /// The field as it stands in a head, without its line end.
  var mark: String { "\(Self.header): \(rawValue)" }
}
