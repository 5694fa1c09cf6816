import FerryPlan
import Foundation

/// A folder of generated files.
package enum ScriptFolder {
  /// A file that is accessible only to the user, because it may contain variables of the manifest.
  package struct File: Sendable {
    package enum Kind: Sendable {
      /// Mode 0700.
      case program
      /// Mode 0600.
      case document

      fileprivate var mode: mode_t {
        switch self {
        case .program: 0o700
        case .document: 0o600
        }
      }
    }

    package var name: String
    package var kind: Kind
    package var text: String

    package init(_ name: String, _ kind: Kind = .program, text: String) {
      self.name = name
      self.kind = kind
      self.text = text
    }
  }

  /// Writes files, replacing earlier ones.
  ///
  /// - Throws: `UsageError` if the folder or a file cannot be written.
  package static func write(_ files: [File], to folder: String) throws(UsageError) {
    func check(_ code: Int32?, _ path: String) throws(UsageError) {
      guard let code else { return }
      throw UsageError("\(DisplayPath.shown(path)): cannot be written: \(String(cString: strerror(code)))")
    }
    if mkdir(folder, 0o700) != 0, errno != EEXIST { try check(errno, folder) }
    for file in files {
      let path = folder + "/" + file.name
      try check(AtomicWrite.failure(of: Array(file.text.utf8), replacing: path, access: .userOnly), path)
      try check(chmod(path, file.kind.mode) == 0 ? nil : errno, path)
    }
  }

  /// Replaces this process with a shell that runs the file.
  ///
  /// - Throws: `UsageError` if the shell cannot be started.
  package static func run(_ file: File, in folder: String) throws(UsageError) -> Never {
    let path = folder + "/" + file.name
    let shell = "/bin/bash"
    let words: [UnsafeMutablePointer<CChar>?] = [strdup(shell), strdup(path), nil]
    defer { for word in words { free(word) } }
    execv(shell, words)
    throw UsageError(
      "\(DisplayPath.shown(path)): \(shell) cannot be started: \(String(cString: strerror(errno)))")
  }
}
