import FerryPlan

/// The servers to which an upload ID belongs, or to which a file without an upload ID was sent, if captures of tokens
/// or requests determine these servers. Another launch or another token may lead to another server, where the same ID
/// may belong to a different upload.
///
/// In the journal, a `BoundServers` is a string: the server of the first step, and then, separated by spaces,
/// `STEP=SERVER` for each later step that goes to a different server. An ambiguous item also has `redirected=SERVER` if
/// its last request was redirected to another server.
struct BoundServers: Hashable, Sendable {
  let text: String

  init(text: String) { self.text = text }

  /// - Parameters:
  ///   - first: the server that the first step was sent to.
  ///   - later: the servers that the later steps would be sent to now; `nil` if the server is not known yet.
  init(first: String, later: [(step: Step.Kind, server: String?)]) {
    let others = later.filter { $0.server != first }.map { " \($0.step.rawValue)=\($0.server ?? Self.any)" }
    text = first + others.joined()
  }

  /// The server that a step belongs to.
  func server(of step: Step.Kind) -> String {
    let words = text.split(separator: " ", omittingEmptySubsequences: false)
    let prefix = "\(step.rawValue)="
    if let word = words.dropFirst().first(where: { $0.hasPrefix(prefix) }) {
      return String(word.dropFirst(prefix.count))
    }
    return words.first.map { String($0) } ?? ""
  }

  /// Whether the step may be sent to this server.
  func allows(_ step: Step.Kind, at server: String) -> Bool {
    let bound = self.server(of: step)
    return bound == server || bound == Self.any
  }

  /// Returns the servers together with the server to which the last request of the item was redirected.
  static func redirected(_ servers: BoundServers?, to server: String) -> BoundServers {
    let words = (servers?.text ?? "").split(separator: " ", omittingEmptySubsequences: false)
      .filter { !$0.hasPrefix(redirect) }
    return BoundServers(text: words.joined(separator: " ") + " " + redirect + server)
  }

  /// The server to which the last request of the item was redirected; `nil` if the request was not redirected.
  var redirectedTo: String? {
    text.split(separator: " ").first { $0.hasPrefix(Self.redirect) }
      .map { String($0.dropFirst(Self.redirect.count)) }
  }

  private static let redirect = "redirected="

  /// The server of a step for messages; `nil` if the server is unknown or must not be shown.
  func shown(_ step: Step.Kind) -> String? { Self.shown(server(of: step)) }

  static func shown(_ server: String) -> String? {
    server.isEmpty || server == any || server.hasPrefix(hidden) ? nil : server
  }

  /// Precedes the digest of a server whose name is, or contains, a secret.
  static let hidden = "sha256:"
  private static let any = "*"
}
