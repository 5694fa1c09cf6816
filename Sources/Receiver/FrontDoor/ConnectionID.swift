/// The number that the front door gives a client's connection; never reused in one run.
struct ConnectionID: Hashable, Sendable {
  /// The header field that tells a handler on which connection its request arrived.
  static let header = "Receiver-Connection"

  let rawValue: UInt64

  /// The field as written in a header section, without its line end.
  var mark: String { "\(Self.header): \(rawValue)" }
}
