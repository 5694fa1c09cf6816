/// The dependencies between steps, and their locations in the manifest.
struct DependencyGraph {
  struct Edge {
    var from: GraphVertex
    var to: GraphVertex
    var location: SourceLocation
  }

  private var vertices: [GraphVertex] = []
  private var edges: [GraphVertex: [Edge]] = [:]

  mutating func add(_ vertex: GraphVertex) {
    guard edges[vertex] == nil else { return }
    vertices.append(vertex)
    edges[vertex] = []
  }

  /// Adds an edge, if both ends are declared.
  mutating func connect(_ from: GraphVertex, to: GraphVertex, at location: SourceLocation) {
    guard edges[to] != nil else { return }
    edges[from]?.append(Edge(from: from, to: to, location: location))
  }

  /// All vertices on which a vertex depends, directly or indirectly.
  func everythingNeeded(by vertex: GraphVertex) -> Set<GraphVertex> {
    var (found, waiting): (Set<GraphVertex>, [GraphVertex]) = ([], [vertex])
    while let next = waiting.popLast() {
      for edge in edges[next] ?? [] where found.insert(edge.to).inserted { waiting.append(edge.to) }
    }
    return found
  }

  /// The cycles, each as the list of its edges. If cycles share a vertex, only the first is reported,
  /// because breaking it may break the others.
  func cycles() -> [[Edge]] {
    var found: [[Edge]] = []
    var isDone: Set<GraphVertex> = []
    var isInCycle: Set<GraphVertex> = []
    for start in vertices where !isDone.contains(start) {
      // Depth first without recursion, because a chain of nodes can be deeper than the stack.
      var path: [(vertex: GraphVertex, next: Int)] = [(start, 0)]
      var depth: [GraphVertex: Int] = [start: 0]
      while let (vertex, next) = path.last {
        guard let out = edges[vertex], next < out.count else {
          isDone.insert(vertex)
          depth[vertex] = nil
          path.removeLast()
          continue
        }
        path[path.count - 1].next += 1
        let to = out[next].to
        if let level = depth[to] {
          guard !isInCycle.contains(to), !isInCycle.contains(vertex) else { continue }
          let members = path[level...]
          guard isInCycle.isDisjoint(with: members.map(\.vertex)) else { continue }
          isInCycle.formUnion(members.map(\.vertex))
          found.append(members.compactMap { step in edges[step.vertex]?[step.next - 1] })
        } else if !isDone.contains(to) {
          depth[to] = path.count
          path.append((to, 0))
        }
      }
    }
    return found
  }
}
