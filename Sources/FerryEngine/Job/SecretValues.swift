import FerryManifest
import Foundation

/// The values of a manifest's secrets, found when a run starts.
enum SecretValues {
  static func load(
    _ secrets: [Secret], folder: String, environment: [String: String]
  ) throws(UsageError) -> [String: SensitiveValue] {
    var values: [String: SensitiveValue] = [:]
    for secret in secrets {
      let name = secret.name.value
      switch secret.source {
      case .environment(let variable):
        guard let value = environment[variable], !value.isEmpty else {
          throw UsageError(
            "\(secret.name.location): the secret '\(name)' is not set\nhelp: set the environment variable \(variable)"
          )
        }
        values[name] = SensitiveValue(value)
      case .file(let path):
        let ref = Self.ref(of: path, in: folder)
        do {
          var text = try String(contentsOf: ref, encoding: .utf8)
          if text.hasSuffix("\r\n") || text.hasSuffix("\n") { text.removeLast() }
          values[name] = SensitiveValue(text)
        } catch {
          throw UsageError(
            "\(secret.name.location): the secret '\(name)' cannot be read from \(ref.path)\nhelp: check that the file is there and may be read"
          )
        }
      }
    }
    return values
  }

  /// Where a secret's file lies.
  static func ref(of path: String, in folder: String) -> URL {
    URL(fileURLWithPath: path, relativeTo: URL(fileURLWithPath: folder, isDirectory: true))
  }
}
