/// The number that the front door assigns to a client's connection; never reused within one run.
struct ConnectionID: Hashable, Sendable {
  /// The header field that contains the number of the connection on which a request arrived.
  static let header = "Receiver-Connection"

  let rawValue: UInt64

  /// The field as written in a header section, without its line break.
  var mark: String { "\(Self.header): \(rawValue)" }
}
