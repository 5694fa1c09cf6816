/// The script of the page. It has no dependencies.
enum HTMLScript {
  static let text = [core, charts, graph, items, page].joined(separator: "\n")
}
