import FerryPlan

/// The dependency graph of a plan for programs that draw graphs.
package enum PlanGraph {
  /// A flowchart of Mermaid, which GitHub and GitLab show in Markdown.
  package static func mermaid(_ plan: PlanDocument) -> String {
    var lines = ["flowchart LR"]
    let names = indices(plan)
    for (index, node) in plan.nodes.enumerated() {
      let words = "\(node.kind.rawValue) \(node.name)<br>\(words(node))"
      // Mermaid has no escapes in strings, but reads entity codes.
      lines.append("  n\(index)\(shape(node.kind, "\"\(mermaidEscaped(words))\""))")
    }
    for (index, node) in plan.nodes.enumerated() {
      lines += node.needs.compactMap { names[$0] }.map { "  n\($0) --> n\(index)" }
      if let token = node.token.flatMap({ names[$0] }) { lines.append("  n\(token) -.-> n\(index)") }
    }
    return lines.joined(separator: "\n") + "\n"
  }

  /// A graph in the language of Graphviz.
  package static func dot(_ plan: PlanDocument) -> String {
    var lines = [
      "digraph \(quoted(plan.manifest)) {", "  rankdir=LR;",
      "  node [shape=box, style=rounded, fontname=\"sans-serif\"];",
    ]
    let names = indices(plan)
    for (index, node) in plan.nodes.enumerated() {
      let label = quoted("\(node.kind.rawValue) \(node.name)\n\(words(node))")
      lines.append("  n\(index) [label=\(label)\(node.kind == .token ? ", shape=ellipse" : "")];")
    }
    for (index, node) in plan.nodes.enumerated() {
      lines += node.needs.compactMap { names[$0] }.map { "  n\($0) -> n\(index);" }
      if let token = node.token.flatMap({ names[$0] }) {
        lines.append("  n\(token) -> n\(index) [style=dashed];")
      }
    }
    return (lines + ["}"]).joined(separator: "\n") + "\n"
  }

  private static func indices(_ plan: PlanDocument) -> [String: Int] {
    Dictionary(
      plan.nodes.enumerated().map { ($0.element.name, $0.offset) }, uniquingKeysWith: { first, _ in first })
  }

  /// The state of a node, and its items.
  private static func words(_ node: PlanDocument.NodeEntry) -> String {
    if let items = node.items, node.state == .run || node.state == .waiting {
      return items.toSend == 0
        ? "nothing to send" : items.amount
    }
    return node.state == .ask ? "when needed" : node.state.description.replacing("_", with: " ")
  }

  private static func shape(_ kind: Node.Kind, _ label: String) -> String {
    switch kind {
    case .token: "([\(label)])"
    case .upload, .download: "[\(label)]"
    case .fetch: "[/\(label)/]"
    case .request: "(\(label))"
    }
  }

  private static func mermaidEscaped(_ text: String) -> String {
    text.split(separator: "<br>", omittingEmptySubsequences: false).map { part in
      DisplayPath.line(String(part)).unicodeScalars.map { scalar in
        switch scalar {
        case "a"..."z", "A"..."Z", "0"..."9", " ", ".", ",", "-", "_", "/": String(scalar)
        case "\u{0}"..."\u{7F}": "#\(scalar.value);"
        default: String(scalar)
        }
      }.joined()
    }.joined(separator: "<br>")
  }

  private static func quoted(_ text: String) -> String {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
      DisplayPath.line(String(line)).replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
    }
    return "\"\(lines.joined(separator: "\\n"))\""
  }
}
