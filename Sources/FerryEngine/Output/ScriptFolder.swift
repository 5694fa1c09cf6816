import FerryPlan
import FerryTransfer
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

      fileprivate var access: AtomicWrite.Access {
        switch self {
        case .program: .userOnlyProgram
        case .document: .userOnly
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
  /// - Throws: `UsageError` if the folder or a file cannot be written, or if another user could replace the files before
  ///   they are run.
  package static func write(_ files: [File], to folder: String) throws(UsageError) {
    func check(_ code: Int32?, _ path: String) throws(UsageError) {
      guard let code else { return }
      throw UsageError("\(DisplayPath.shown(path)): cannot be written: \(String(cString: strerror(code)))")
    }
    if mkdir(folder, 0o700) != 0, errno != EEXIST { try check(errno, folder) }
    if let refusal = refusal(of: folder) {
      throw UsageError("\(DisplayPath.shown(folder)): cannot be written: \(refusal)")
    }
    for file in files {
      let path = folder + "/" + file.name
      let bytes = Array(file.text.utf8)
      try check(AtomicWrite.failure(of: bytes, replacing: path, access: file.kind.access), path)
    }
  }

  /// The reason why another user could replace files of the folder; `nil` if none can.
  private static func refusal(of folder: String) -> String? {
    let descriptor: CInt
    do throws(FolderPath.Failure) {
      descriptor = try FolderPath.descriptor(of: Array(folder.utf8), trusting: .ownEntries)
    } catch {
      return error.reason
    }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { return String(cString: strerror(errno)) }
    guard status.st_mode & 0o002 != 0 else { return nil }
    return "any user can write to this folder, and the files contain commands; choose another one with --out"
  }

  /// Replaces this process with a shell that runs the file.
  ///
  /// - Throws: `UsageError` if the shell cannot be started.
  package static func run(_ file: File, in folder: String) throws(UsageError) -> Never {
    let path = folder + "/" + file.name
    let shell = "/bin/bash"
    // The path may begin with '-'.
    let words: [UnsafeMutablePointer<CChar>?] = [strdup(shell), strdup("--"), strdup(path), nil]
    defer { for word in words { free(word) } }
    execv(shell, words)
    throw UsageError(
      "\(DisplayPath.shown(path)): \(shell) cannot be started: \(String(cString: strerror(errno)))")
  }
}
