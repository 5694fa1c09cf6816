/// A string with references in it, such as `${vars.api}/uploads/${allocate.upload_id}`.
///
/// The reader has already put in what is known before a run (`vars`, `env`); what is left are the
/// references that get their value while it runs.
package struct Template: Hashable, Codable, Sendable {
  package enum Segment: Hashable, Codable, Sendable {
    /// The author's own words, `vars` included; they stand as they are.
    case literal(String)
    /// A value from outside (`${env.NAME}`); it is encoded for its place as a reference is.
    case value(String)
    case reference(Reference)
  }

  package var segments: [Segment]

  package init(_ segments: [Segment]) { self.segments = segments }
  package init(literal: String) { segments = literal.isEmpty ? [] : [.literal(literal)] }

  /// The references in order of appearance.
  package var references: [Reference] {
    segments.compactMap { if case .reference(let reference) = $0 { reference } else { nil } }
  }

  /// The whole text, where nothing in it waits for the run.
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
      case .reference(let reference): reference.description
      }
    }.joined()
  }
}
