import Crypto
import FerryManifest
import FerryPlan
import Foundation

/// A manifest that was read and compiled, and where it lies.
package struct Job: Sendable {
  /// As it was given.
  package var path: String
  /// The absolute path of the manifest's folder: what relative paths are relative to.
  package var folder: String
  /// Of the manifest's text, in lower-case hexadecimal.
  package var sha256: String
  package var manifest: Manifest
  package var plan: Plan
  package var variables: [String: String]
  /// What the manifest asks for and ferry cannot do yet: a launch refuses it.
  package var notBuilt: [Diagnostic]

  /// What reading a manifest gave.
  package struct Reading: Sendable {
    /// `nil` where the manifest has an error.
    package var job: Job?
    package var diagnostics: [Diagnostic]
    /// The document with every default written out; `nil` where the manifest has an error.
    package var effective: EffectiveManifest? {
      guard let job, let root else { return nil }
      return EffectiveManifest(root, in: job.manifest.profile)
    }
    fileprivate var root: YAMLNode?
    package var source: SourceText
  }

  /// Reads a manifest from the disk. Throws where the file cannot be read.
  package static func read(
    path: String, variables: [String: String], environment: [String: String]
  ) throws(UsageError) -> Reading {
    let bytes: [UInt8]
    do {
      bytes = Array(try Data(contentsOf: URL(fileURLWithPath: path)))
    } catch {
      throw UsageError("\(path): cannot be read: \(error.localizedDescription)")
    }
    let reading = ManifestReader(environment: environment, variables: variables).read(bytes, file: path)
    let folder = URL(fileURLWithPath: path).standardizedFileURL.deletingLastPathComponent().path
    let job = reading.manifest.map {
      Job(
        path: path, folder: folder,
        sha256: Hexadecimal.text(SHA256.hash(data: bytes)), manifest: $0, plan: Plan($0),
        variables: variables,
        notBuilt: reading.diagnostics.filter { $0.code == .notBuilt }
      )
    }
    return Reading(
      job: job, diagnostics: reading.diagnostics, root: reading.root, source: SourceText(bytes, file: path))
  }
}

/// Something that was asked for and cannot be done; nothing was begun. Exit code 2.
package struct UsageError: Error, CustomStringConvertible, Sendable {
  package var description: String

  package init(_ description: String) { self.description = description }
}
