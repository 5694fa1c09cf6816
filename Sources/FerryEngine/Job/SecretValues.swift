import FerryManifest
import Foundation

/// Loads the values of a manifest's secrets when a run starts.
enum SecretValues {
  /// The manifest's secrets, and the settings of its AWS signatures (`AWSValue`).
  static func load(
    _ manifest: Manifest, folder: String, environment: [String: String]
  ) throws(UsageError) -> [String: SensitiveValue] {
    var values = try load(manifest.secrets, folder: folder, environment: environment)
    values.merge(try AWSSettings.load(manifest.awsSignatures, environment: environment)) { $1 }
    return values
  }

  private static func load(
    _ secrets: [Secret], folder: String, environment: [String: String]
  ) throws(UsageError) -> [String: SensitiveValue] {
    var values: [String: SensitiveValue] = [:]
    for secret in secrets {
      let name = secret.name.value
      switch secret.source {
      case .environment(let variable):
        guard let value = environment[variable], !value.isEmpty else {
          throw UsageError(
            "\(secret.name.location): secret '\(name)' is not set\nhelp: set the environment variable \(variable)"
          )
        }
        values[name] = SensitiveValue(value)
      case .file(let path):
        let file = Self.file(path, in: folder)
        do throws(FileContents.Failure) {
          values[name] = SensitiveValue(try Self.text(of: file))
        } catch {
          throw UsageError(
            "\(secret.name.location): secret '\(name)' cannot be read from \(file): \(error.reason)\n"
              + "help: check that the file exists and is readable"
          )
        }
      }
    }
    return values
  }

  /// The text of a file without its final line break.
  private static func text(of file: String) throws(FileContents.Failure) -> String {
    let bytes = try FileContents(file).bytesOfRegularFile(limit: limit)
    guard var text = String(validating: bytes, as: UTF8.self) else {
      throw FileContents.Failure(code: EILSEQ, refusal: "it is not UTF-8")
    }
    if text.hasSuffix("\r\n") || text.hasSuffix("\n") { text.removeLast() }
    guard !text.isEmpty else { throw FileContents.Failure(code: EINVAL, refusal: "it is empty") }
    return text
  }

  /// The maximum size of a secret in bytes.
  private static let limit = 1 << 20

  /// The path of a secret's file.
  static func file(_ path: String, in folder: String) -> String {
    URL(fileURLWithPath: path, relativeTo: URL(fileURLWithPath: folder, isDirectory: true)).path
  }
}
