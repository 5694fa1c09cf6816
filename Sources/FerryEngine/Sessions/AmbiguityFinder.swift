import FerryJournal
import FerryManifest
import FerryPlan
import Foundation

/// Tells of requests that may have been carried out, of one upload, fetch or request that a journal has.
struct AmbiguityFinder {
  /// The session in whose journal it stands, which may not be where its manifest has it now.
  let session: String
  let state: StateDirectory
  let row: NodeRow
  /// What the manifest makes of it; `nil` where it has it no more, or cannot be read.
  let node: Node?

  func ambiguity(of item: SessionJournal.AmbiguousItem) -> Ambiguity {
    let kind: Step.Kind =
      switch item.step {
      case .allocate: .allocate
      case .transfer: .transfer
      case .commit, .commitAgain: .commit
      }
    let values = ItemValues(journaled: item.captures, sha256: nil)
    let open = (values.allocate + values.transfer).filter { !$0.isSecret }
    return Ambiguity(
      step: kind, at: item.closedAt, origin: origin(of: kind, values),
      captures: Dictionary(open.map { ($0.name, $0.shown) }) { $1 },
      resolve: resolutions(of: item.path))
  }

  /// Of a request or a fetch.
  var ambiguity: Ambiguity {
    let kind: Step.Kind = row.kind == .fetch ? .fetch : .request
    return Ambiguity(
      step: kind, at: row.closedAt, origin: origin(of: kind, ItemValues()), captures: [:],
      resolve: resolutions(of: nil))
  }

  /// Where the request went. What the manifest says now holds only where it still goes to the same server.
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

  /// A host that only a capture tells.
  private func captured(by step: Step, _ values: ItemValues) -> String? {
    var bindings = Bindings()
    bindings.allocate = .init(values.allocate)
    bindings.transfer = .init(values.transfer)
    let start = RequestTemplate(url: Template(Array(step.request.url.segments.prefix(1))))
    // What is no URL has no host to tell.
    guard let url = (try? RequestBuilder(start).build(bindings))?.url else { return nil }
    return Origin(url: url)?.description
  }

  private func resolutions(of path: [UInt8]?) -> [String] {
    let command = ResolveCommand(session: session, row: row, path: path)
    return [.done, .retry].map { command.line($0, in: state) }
  }
}
