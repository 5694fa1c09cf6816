/// The value to which a `${…}` refers, after `vars` and `env` are substituted.
package enum Reference: Hashable, Codable, Sendable {
  case secret(String)
  case file(FileField)
  /// A value of the item's element in the list of a download batch.
  case item(String)
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
    /// The meaning of the exit code, as a word.
    case status
  }
}

extension Reference: CustomStringConvertible {
  package var description: String { description(with: []) }

  /// The reference as written in the manifest: `${file.path | url}`.
  package func description(with filters: [ReferenceFilter]) -> String { "${\(path)\(filters.written)}" }

  /// The reference without `${…}`: `secrets.client_secret`.
  package var path: String {
    switch self {
    case .secret(let name): "secrets.\(name)"
    case .file(let field): "file.\(field.rawValue)"
    case .item(let field): "item.\(field)"
    case .token(let capture): "token.\(capture)"
    case .allocate(let capture): "allocate.\(capture)"
    case .transfer(let capture): "transfer.\(capture)"
    case .request(let name, let capture): "requests.\(name).\(capture)"
    case .run(let field): "run.\(field.rawValue)"
    }
  }
}
