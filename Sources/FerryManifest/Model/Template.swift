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

/// What a `${…}` names, once `vars` and `env` are put in.
package enum Reference: Hashable, Codable, Sendable {
  case secret(String)
  case file(FileField)
  /// A capture of the token that the node names with `token:`.
  case token(String)
  /// A capture of the same item's `allocate` step.
  case allocate(String)
  /// A capture of the same item's `transfer` step.
  case transfer(String)
  /// A capture of another node: `${requests.NAME.CAPTURE}`.
  case request(name: String, capture: String)
  case run(RunField)

  package enum FileField: String, Hashable, Codable, Sendable, CaseIterable {
    case name, path, stem, `extension`, size, sha256, modified
  }

  package enum RunField: String, Hashable, Codable, Sendable, CaseIterable {
    case id, done, failed
    case exitCode = "exit_code"
  }
}

extension Reference: CustomStringConvertible {
  package var description: String {
    switch self {
    case .secret(let name): "${secrets.\(name)}"
    case .file(let field): "${file.\(field.rawValue)}"
    case .token(let capture): "${token.\(capture)}"
    case .allocate(let capture): "${allocate.\(capture)}"
    case .transfer(let capture): "${transfer.\(capture)}"
    case .request(let name, let capture): "${requests.\(name).\(capture)}"
    case .run(let field): "${run.\(field.rawValue)}"
    }
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
