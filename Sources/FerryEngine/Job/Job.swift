import FerryDigest
import FerryJournal
import FerryManifest
import FerryPlan
import Foundation

/// A manifest that was read and compiled, with its location.
package struct Job: Sendable {
  /// The path as given.
  package var path: String
  /// The absolute path of the manifest's folder, to which relative paths are relative.
  package var folder: String
  /// The digest of the manifest's text and its includes, in lowercase hexadecimal.
  package var sha256: String
  package var manifest: Manifest
  package var plan: Plan
  package var variables: [String: String]
  /// The warnings issued when the manifest was read.
  package var warnings: [Diagnostic]
  /// The sources that were read.
  package var sources: [SourceText]
  /// The manifest and the files that it includes.
  package var manifestSources: [SourceText]
  /// The part of the manifest that this job contains; `nil` for the whole manifest.
  package internal(set) var part: ShardPart?

  /// The result of reading a manifest.
  package struct Reading: Sendable {
    /// The job; `nil` if the manifest has an error.
    package var job: Job?
    package var diagnostics: [Diagnostic]
    /// The manifest, its includes and the variables files.
    package var sources: [SourceText]
    /// The external inputs of the manifest. For a manifest with an error, the list may be incomplete.
    package var needs: [ExternalInput]
    fileprivate var root: YAMLNode?

    /// The manifest with every default written out; `nil` if the manifest has an error.
    package var effective: EffectiveManifest? {
      guard let job, let root else { return nil }
      return EffectiveManifest(root, in: job.manifest.profile)
    }
  }

  /// Reads a manifest from disk. Throws if the file cannot be read.
  ///
  /// - Parameters:
  ///   - variableFiles: the contents of variables files.
  ///   - waits: whether to wait for the writer of a pipe; otherwise, a file that is not regular cannot be read.
  package static func read(
    path: String, variables: [String: String], variableFiles: [SourceText] = [],
    environment: [String: String], waits: Bool = true
  ) throws(UsageError) -> Reading {
    let bytes = try contents(of: path, waits: waits)
    let reader = ManifestReader(
      environment: environment, variables: variables, variableFiles: variableFiles,
      files: .onDisk(environment))
    let reading = reader.read(bytes, file: path)
    let folder = SplitPath(AbsolutePath.text(of: path)).folder
    let job = reading.manifest.map {
      Job(
        path: path, folder: folder, sha256: digest(of: reading.manifestSources), manifest: $0, plan: Plan($0),
        variables: reading.givenVariables, warnings: reading.diagnostics, sources: reading.sources,
        manifestSources: reading.manifestSources)
    }
    return Reading(
      job: job, diagnostics: reading.diagnostics, sources: reading.sources,
      needs: ExternalInput.list(reading, folder: folder, environment: environment), root: reading.root)
  }

  /// Reads a variables file.
  package static func variables(path: String) throws(UsageError) -> SourceText {
    SourceText(try contents(of: path), file: path)
  }

  /// One byte more than the maximum size of a source, so that its reader can detect an oversized one.
  fileprivate static let limit = SourceText.largest + 1

  private static func contents(of path: String, waits: Bool = true) throws(UsageError) -> [UInt8] {
    do {
      let file = FileContents(path)
      return try waits ? file.bytes(limit: limit) : file.bytesOfRegularFile(limit: SourceText.largest)
    } catch {
      throw UsageError("\(DisplayPath.shown(path)): cannot be read: \(error.reason)")
    }
  }

  /// The SHA-256 digest of a single source; for several sources, the SHA-256 digest of their concatenated
  /// digests.
  private static func digest(of sources: [SourceText]) -> String {
    let digests = sources.map { SHA256.hash($0.bytes) }
    guard digests.count > 1 else { return digests.first.map(Hexadecimal.text) ?? "" }
    let whole = SHA256()
    for digest in digests { whole.update(digest) }
    return Hexadecimal.text(whole.finalize())
  }
}

extension ManifestFiles {
  /// Reads includes from disk; `~/` is the home directory.
  fileprivate static func onDisk(_ environment: [String: String]) -> Self {
    @Sendable func file(_ path: String) -> FileContents {
      let home = environment["HOME"].flatMap {
        path.utf8.starts(with: "~/".utf8) ? $0 + String(path.unicodeScalars.dropFirst()) : nil
      }
      return FileContents(home ?? path)
    }
    return ManifestFiles { path throws(Unreadable) in
      do throws(FileContents.Failure) {
        return try file(path).bytes(limit: Job.limit)
      } catch {
        throw Unreadable(error.reason)
      }
    } identity: { path in
      file(path).identity.map { .inode(device: $0.device, number: $0.inode) } ?? .path(path)
    }
  }
}
