import FerryPlan

/// Files, or elements of a list, that have the same problem.
struct ProblemGroup {
  var message: String
  var count: Int
  /// The name of one of them.
  var exampleName: String

  /// The number of reasons that are shown.
  private static let mostGroups = 5

  /// Groups problems by their messages, the most frequent first. Further messages are counted in the last group.
  ///
  /// - Parameter omitted: the number of problems that are not listed.
  fileprivate static func groups<Problem>(
    of problems: [Problem], omitted: Int = 0, message: (Problem) -> String, name: (Problem) -> String
  ) -> [ProblemGroup] {
    var groups: [ProblemGroup] = []
    var indices: [String: Int] = [:]
    for problem in problems {
      if let index = indices[message(problem)] {
        groups[index].count += 1
      } else {
        indices[message(problem)] = groups.count
        groups.append(ProblemGroup(message: message(problem), count: 1, exampleName: name(problem)))
      }
    }
    let order = groups.indices.sorted { (-groups[$0].count, $0) < (-groups[$1].count, $1) }
    groups = order.map { groups[$0] }
    guard groups.count > 1, groups.count > mostGroups || omitted > 0 else {
      if !groups.isEmpty { groups[0].count += omitted }
      return groups
    }
    let others = groups.dropFirst(mostGroups - 1)
    groups.removeLast(others.count)
    guard let example = (others.first ?? groups.last)?.exampleName else { return groups }
    let count = others.reduce(omitted) { $0 + $1.count }
    groups.append(ProblemGroup(message: "for other reasons", count: count, exampleName: example))
    return groups
  }
}

extension RunRecord.NodeRecord {
  /// The paths or elements of a list that the node does not transfer, by reason.
  var problemGroups: [ProblemGroup] {
    ProblemGroup.groups(
      of: problems ?? [], omitted: problemsOmitted ?? 0, message: \.message,
      name: { DisplayPath.shown($0.path, base64: $0.pathBase64) })
  }

  /// The delivered files that were not moved or deleted, by reason.
  var afterProblemGroups: [ProblemGroup] {
    ProblemGroup.groups(
      of: after?.problems ?? [], message: \.message,
      name: { DisplayPath.shown($0.path, base64: $0.pathBase64) })
  }
}
