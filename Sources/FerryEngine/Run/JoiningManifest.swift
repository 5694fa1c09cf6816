import FerryPlan

/// A manifest that joins the launch because its files were submitted to one of the launch's sessions.
struct JoiningManifest {
  /// The launch's plan, combined with the manifest's.
  var plan: Plan
  /// The states of the manifest's nodes.
  var starts: [NodeStart]
  /// The rounds of all manifests.
  var rounds: [Int64]
  /// For each of the manifest's nodes, the index of its journal in the writer and its row there; `nil` for a node that
  /// the launch does not run.
  var places: [(journal: Int, row: Int64)?]
  /// The manifest's nodes whose items may have had upload IDs in an earlier run.
  var allocatedBefore: Set<Int>
  var requests: RequestFactory
  var responses: ResponseInterpreter
}

/// The result of reading the inboxes of a launch's sessions.
enum InboxNews {
  case event(Event)
  case joining(JoiningManifest)
}
