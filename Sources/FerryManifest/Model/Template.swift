/// A string with references, such as `${vars.api}/uploads/${allocate.upload_id}`.
///
/// The reader has already substituted the values that are known before a run (`vars`, `env`). The remaining
/// references get their values during the run.
package struct Template: Hashable, Codable, Sendable {
  package enum Segment: Hashable, Codable, Sendable {
    /// Literal text of the manifest, including the values of `vars`; it is not percent-encoded.
    case literal(String)
    /// A value from outside (`${env.NAME}`). Like the value of a reference, it is percent-encoded for its
    /// position.
    case value(String)
    /// A value of the run, after these filters.
    case reference(Reference, filters: [ReferenceFilter] = [])
  }

  package var segments: [Segment]

  package init(_ segments: [Segment]) { self.segments = segments }
  package init(literal: String) { segments = literal.isEmpty ? [] : [.literal(literal)] }

  /// The references in order of appearance.
  package var references: [Reference] {
    segments.compactMap { if case .reference(let reference, _) = $0 { reference } else { nil } }
  }

  /// The whole text, if every part of it is known before a run.
  package var constant: String? {
    var text = ""
    for segment in segments {
      switch segment {
      case .literal(let part), .value(let part): text += part
      case .reference: return nil
      }
    }
    return text
  }
}

extension Template: CustomStringConvertible {
  package var description: String {
    segments.map { segment in
      switch segment {
      case .literal(let text), .value(let text): text
      case .reference(let reference, let filters): reference.description(with: filters)
      }
    }.joined()
  }
}
