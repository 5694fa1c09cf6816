import FerryManifest
import FerryPlan

extension Plan {
  /// The sequences of filters in references that may be secret, so that the results of the filters can be masked.
  var secretFilters: Set<[ReferenceFilter]> {
    var templates: [Template] = []
    for session in sessions {
      templates += session.headers.map(\.value) + session.connection.templates
      templates += session.sign?.templates ?? []
      templates += session.auth?.templates ?? []
    }
    for node in nodes {
      templates += node.steps.flatMap(\.request.templates)
      if case .token(let work) = node.work { templates.append(work.apply.value) }
    }
    return Set(templates.flatMap(\.secretFilters))
  }
}

extension Jobs {
  /// Each job's own plan is used: in a combined plan, a shared session has only the first manifest's header
  /// fields.
  var secretFilters: Set<[ReferenceFilter]> {
    all.reduce(into: []) { $0.formUnion($1.plan.secretFilters) }
  }
}

extension Template {
  fileprivate var secretFilters: [[ReferenceFilter]] {
    segments.compactMap { segment in
      guard case .reference(let reference, let filters) = segment, !filters.isEmpty else { return nil }
      switch reference {
      case .secret, .token, .allocate, .transfer, .request: return filters
      case .file, .item, .run: return nil
      }
    }
  }
}
