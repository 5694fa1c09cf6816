import FerryPlan
import Foundation

/// A folder of generated scripts.
package enum ScriptFolder {
  /// Writes files with mode 0700, replacing earlier ones. They may contain variables of the manifest.
  ///
  /// - Throws: `UsageError` if the folder or a file cannot be written.
  package static func write(_ files: [(name: String, text: String)], to folder: String) throws(UsageError) {
    func check(_ code: Int32?, _ path: String) throws(UsageError) {
      guard let code else { return }
      throw UsageError("\(DisplayPath.shown(path)): cannot be written: \(String(cString: strerror(code)))")
    }
    if mkdir(folder, 0o700) != 0, errno != EEXIST { try check(errno, folder) }
    for file in files {
      let path = folder + "/" + file.name
      try check(AtomicWrite.failure(of: Array(file.text.utf8), replacing: path, access: .userOnly), path)
      try check(chmod(path, 0o700) == 0 ? nil : errno, path)
    }
  }
}
