import FerryPlan

/// Explains why `ferry reset` and `ferry run --fresh` did not drop anything.
package enum UnansweredText {
  /// The maximum number of requests listed.
  private static let most = 100

  /// Returns a message that lists the requests and explains how to proceed.
  ///
  /// - Parameter instead: the alternative to dropping the requests.
  package static func text(_ unanswered: [UnansweredRequest], instead: String) -> String {
    let count = unanswered.count
    let what =
      count == 1
      ? "the request of 1 item may have reached the server, but no response to it is recorded"
      : "the requests of \(count) items may have reached the server, but no responses to them are recorded"
    var lines = ["\(what); nothing was dropped"]
    lines += unanswered.prefix(most).map { "  \(line($0))" }
    if count > most { lines.append("  and \(count - most) more") }
    lines.append(
      "help: \(instead). Check the server before you drop the requests with --drop-unanswered: they are then sent again, "
        + "and the server may deliver or commit them twice")
    return lines.joined(separator: "\n")
  }

  private static func line(_ request: UnansweredRequest) -> String {
    let name =
      request.path.map { "\(request.node)/\(DisplayPath.shown($0))" } ?? DisplayPath.shown(request.node)
    return
      "\(name) of \(DisplayPath.shown(request.manifest)), session \(DisplayPath.shown(request.session)): "
      + word(request.step)
  }

  private static func word(_ step: ItemStep?) -> String {
    switch step {
    case .allocate: "its allocate step"
    case .transfer: "its transfer step"
    case .commit, .commitAgain, .commitDeferred: "its commit"
    case nil: "its request"
    }
  }
}
