import FerryPlan

/// Paths or elements of a list that a batch does not transfer, for one reason.
struct ProblemGroup {
  var message: String
  var count: Int
  var example: RunRecord.FileProblem

  var exampleName: String { DisplayPath.shown(example.path, base64: example.pathBase64) }
}

extension RunRecord.NodeRecord {
  /// The number of reasons that are shown.
  private static let mostGroups = 5

  /// The node's problems by reason, the most frequent first. Further reasons are counted in the last group.
  var problemGroups: [ProblemGroup] {
    var groups: [ProblemGroup] = []
    var indices: [String: Int] = [:]
    for problem in problems ?? [] {
      if let index = indices[problem.message] {
        groups[index].count += 1
      } else {
        indices[problem.message] = groups.count
        groups.append(ProblemGroup(message: problem.message, count: 1, example: problem))
      }
    }
    let order = groups.indices.sorted { (-groups[$0].count, $0) < (-groups[$1].count, $1) }
    groups = order.map { groups[$0] }
    let omitted = problemsOmitted ?? 0
    guard groups.count > 1, groups.count > Self.mostGroups || omitted > 0 else {
      if !groups.isEmpty { groups[0].count += omitted }
      return groups
    }
    let others = groups.dropFirst(Self.mostGroups - 1)
    groups.removeLast(others.count)
    guard let example = (others.first ?? groups.last)?.example else { return groups }
    let count = others.reduce(omitted) { $0 + $1.count }
    groups.append(ProblemGroup(message: "for other reasons", count: count, example: example))
    return groups
  }
}
