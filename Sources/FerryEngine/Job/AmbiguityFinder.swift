import FerryJournal
import FerryManifest
import FerryPlan
import Foundation

/// Describes requests that may have been executed, for one upload, download batch, fetch or request in a journal.
struct AmbiguityFinder {
  /// The session whose journal contains the row. The manifest may have moved the node to a different session since the
  /// row was recorded.
  let session: String
  let state: StateDirectory
  let row: NodeRow
  /// The node in the current manifest; `nil` if the manifest no longer has it or cannot be read.
  let node: Node?
  /// Whether the session's journal is kept, so that a decision can be recorded in it.
  var isDurable = true

  func ambiguity(of item: SessionJournal.AmbiguousItem) -> Ambiguity {
    let kind: Step.Kind =
      switch item.step {
      case .allocate: .allocate
      case .transfer: .transfer
      case .commit, .commitAgain, .commitDeferred: .commit
      }
    let values = ItemValues(journaled: item.captures, sha256: nil)
    let servers = item.servers.map(BoundServers.init)
    // The list of an upload's parts does not help a person, and can be long.
    let open = (values.allocate + values.transfer).filter { !$0.isSecret && !$0.isListOfParts }
    return Ambiguity(
      step: kind, failed: item.failure?.code == .commitFailed, at: item.closedAt,
      origin: origin(of: kind, values) ?? servers?.shown(kind),
      redirectedTo: servers?.redirectedTo,
      captures: Dictionary(open.map { ($0.name, $0.shown) }) { $1 },
      resolve: resolutions(of: item.path, isBeforeCommit: kind == .transfer && hasCommit))
  }

  /// The ambiguity of a request or a fetch.
  var ambiguity: Ambiguity {
    let kind: Step.Kind = row.kind == .fetch ? .fetch : .request
    return Ambiguity(
      step: kind, at: row.closedAt, origin: origin(of: kind, ItemValues()), captures: [:],
      resolve: resolutions(of: nil, isBeforeCommit: false))
  }

  /// The server to which the request was sent. The current manifest is used only if the node still uses the same
  /// server.
  private func origin(of kind: Step.Kind, _ values: ItemValues) -> String? {
    guard isWhereItWas, let step = node?.steps.first(where: { $0.kind == kind }) else { return row.server }
    return step.origin?.description ?? captured(by: step, values)
  }

  private var isWhereItWas: Bool {
    let first: Step? =
      switch node?.work {
      case .upload(let work): work.first
      case .fetch(let work): work.step
      case .request(let work): work.step
      case .token, nil: nil
      }
    return first.map { $0.origin?.description == row.server } ?? false
  }

  /// The origin of a step whose URL begins with a capture; `nil` if the capture is secret or is not a URL.
  private func captured(by step: Step, _ values: ItemValues) -> String? {
    var bindings = Bindings()
    bindings.allocate = .init(values.allocate.filter { !$0.isSecret })
    bindings.transfer = .init(values.transfer.filter { !$0.isSecret })
    let start = RequestTemplate(url: Template(Array(step.request.url.segments.prefix(1))))
    // A capture that is not a URL has no origin. A secret capture has no binding, so no URL can be built.
    guard let url = (try? RequestBuilder(start).build(bindings))?.url else { return nil }
    return Origin(url: url)?.description
  }

  private var hasCommit: Bool {
    if case .upload(let work) = node?.work { return work.commit != nil }
    return [.intended, .allocatedBeforeCommit].contains(row.countingPoint)
  }

  private func resolutions(of path: [UInt8]?, isBeforeCommit: Bool) -> [String] {
    guard isDurable else { return [] }
    let command = ResolveCommand(session: session, row: row, path: path)
    let decisions: [ResolveDecision] = isBeforeCommit ? [.done, .retry, .delivered] : [.done, .retry]
    return decisions.map { command.line($0, in: state) }
  }
}
