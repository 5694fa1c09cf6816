import FerryManifest
import Foundation

/// An external input of a manifest. Its value is never shown. The JSON keys are a stable public interface.
package struct ExternalInput: Codable, Equatable, Sendable {
  package enum Kind: String, Codable, Sendable {
    /// An environment variable.
    case environment
    /// A file that contains a secret, or a file that a session's `tls` names.
    case file
    /// A manifest variable that is required or has a description.
    case variable
  }

  package var kind: Kind
  /// The variable's name, or the file's path as written in the manifest.
  package var name: String
  /// The location of the first use.
  package var file: String
  package var line: Int
  package var column: Int
  /// Whether every use has a default.
  package var hasDefault: Bool
  /// Whether a variable has a value (a non-empty one, unless it may be empty), or whether a file can be
  /// read.
  package var isSet: Bool
  package var isSecret: Bool
  /// The type of a variable: `string`, `integer`, …
  package var type: String?
  /// The description of a variable.
  package var description: String?
}

extension ExternalInput {
  package var location: SourceLocation { SourceLocation(file: file, line: line, column: column) }

  /// The inputs of a manifest, each listed once, in the order of the manifest's text.
  ///
  /// - Parameter folder: the manifest's folder, to which paths are relative.
  static func list(_ reading: ManifestReading, folder: String, environment: [String: String])
    -> [ExternalInput]
  {
    var needs: [ExternalInput] = []
    var index: [String: Int] = [:]
    for use in reading.environment {
      if let known = index[use.name] {
        needs[known].hasDefault = needs[known].hasDefault && use.hasDefault
        needs[known].isSecret = needs[known].isSecret || use.isSecret
      } else {
        index[use.name] = needs.count
        needs.append(
          ExternalInput(
            kind: .environment, name: use.name, at: use.location, hasDefault: use.hasDefault,
            isSecret: use.isSecret))
      }
    }
    for index in needs.indices {
      // A default also replaces an empty variable, and an empty secret is treated as not set.
      let value = environment[needs[index].name]
      let isEmptyEnough = !needs[index].hasDefault && !needs[index].isSecret
      needs[index].isSet = value.map { !$0.isEmpty || isEmptyEnough } ?? false
    }
    for secret in reading.manifest?.secrets ?? [] {
      guard case .file(let path) = secret.source else { continue }
      var need = ExternalInput(
        kind: .file, name: path, at: secret.name.location, hasDefault: false, isSecret: true)
      need.isSet = FileManager.default.isReadableFile(atPath: SecretValues.file(path, in: folder))
      needs.append(need)
    }
    needs += certificates(reading, folder: folder, environment: environment)
    for variable in reading.variables where variable.isRequired || variable.description != nil {
      var need = ExternalInput(
        kind: .variable, name: variable.name, at: variable.location, hasDefault: !variable.isRequired,
        isSecret: false)
      need.isSet = variable.isGiven
      need.type = variable.type
      need.description = variable.description
      needs.append(need)
    }
    // The manifest's own text comes first, then its includes in the order in which they are named.
    let files = reading.sources.map(\.file)
    func rank(_ need: ExternalInput) -> (Int, SourceLocation) {
      (files.firstIndex(of: need.file) ?? files.count, need.location)
    }
    return needs.sorted { rank($0) < rank($1) }
  }

  /// The files of the sessions' `tls`.
  private static func certificates(
    _ reading: ManifestReading, folder: String, environment: [String: String]
  ) -> [ExternalInput] {
    var needs: [ExternalInput] = []
    for session in reading.manifest?.sessions ?? [] {
      for (key, path) in session.connection.tls.files where !needs.contains(where: { $0.name == path }) {
        var need = ExternalInput(
          kind: .file, name: path, at: session.name.location, hasDefault: false, isSecret: key != "ca_file")
        need.isSet = FileManager.default.isReadableFile(
          atPath: ConnectionLoader.absolute(path, folder: folder, environment: environment))
        needs.append(need)
      }
    }
    return needs
  }

  private init(kind: Kind, name: String, at location: SourceLocation, hasDefault: Bool, isSecret: Bool) {
    self.init(
      kind: kind, name: name, file: location.file, line: location.line, column: location.column,
      hasDefault: hasDefault, isSet: false, isSecret: isSecret)
  }
}
