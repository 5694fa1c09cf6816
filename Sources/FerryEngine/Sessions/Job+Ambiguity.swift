import FerryJournal
import FerryManifest
import FerryPlan
import Foundation

/// What is told of a request that may have been carried out.
extension Job {
  /// - Parameter node: of this job's own plan.
  func ambiguity(
    of item: SessionJournal.AmbiguousItem, node: Node, in state: StateDirectory
  ) -> Ambiguity {
    let kind: Step.Kind =
      switch item.step {
      case .allocate: .allocate
      case .transfer: .transfer
      case .commit: .commit
      }
    let values = ItemValues(journaled: item.captures, sha256: nil)
    let open = (values.allocate + values.transfer).filter { !$0.isSecret }
    let step = node.steps.first { $0.kind == kind }
    return Ambiguity(
      step: kind, at: item.closedAt, origin: step.flatMap { origin(of: $0, values) },
      captures: Dictionary(open.map { ($0.name, $0.value) }) { $1 },
      resolve: resolutions(of: "\(node.name)/\(NameText.shown(item.path))", node, state))
  }

  /// Of a request or a fetch.
  func ambiguity(of row: NodeRow, node: Node, in state: StateDirectory) -> Ambiguity {
    Ambiguity(
      step: node.steps[0].kind, at: row.closedAt, origin: node.steps[0].origin?.description, captures: [:],
      resolve: resolutions(of: node.name, node, state))
  }

  /// A host that only a capture tells.
  private func origin(of step: Step, _ values: ItemValues) -> String? {
    if let origin = step.origin { return origin.description }
    var bindings = Bindings()
    bindings.allocate = Dictionary(values.allocate.map { ($0.name, $0.value) }) { $1 }
    bindings.transfer = Dictionary(values.transfer.map { ($0.name, $0.value) }) { $1 }
    let start = RequestTemplate(url: Template(Array(step.request.url.segments.prefix(1))))
    // What is no URL has no host to tell.
    guard let url = (try? RequestBuilder(start).build(bindings))?.url else { return nil }
    return Origin(url: url)?.description
  }

  /// They are good in any folder, and need none of the manifest's variables.
  private func resolutions(of item: String, _ node: Node, _ state: StateDirectory) -> [String] {
    var place = ["--session", plan.sessions[node.session.index].identifier]
    if state.isNamed { place += ["--state", URL(fileURLWithPath: state.path).standardizedFileURL.path] }
    return ["done", "retry"].map { ShellWord.line(["ferry", "resolve", item, $0] + place) }
  }
}
