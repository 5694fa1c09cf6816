import FerryPlan
import Foundation

/// The folder with all state that ferry keeps between launches.
package struct StateDirectory: Hashable, Sendable {
  package let path: String
  /// Whether the user or `$FERRY_STATE` specified the folder. If so, a command without that setting would
  /// use another folder.
  package let isNamed: Bool

  /// Uses the first of: the folder that the user specified, `$FERRY_STATE`, `$XDG_STATE_HOME/ferry`,
  /// `$HOME/.local/state/ferry`. A relative `$XDG_STATE_HOME` is ignored, as its specification requires.
  package init(explicit: String?, environment: [String: String]) throws(JournalError) {
    func value(_ name: String) -> String? {
      environment[name].flatMap { $0.isEmpty ? nil : $0 }
    }
    if let explicit, !explicit.isEmpty {
      (path, isNamed) = (explicit, true)
    } else if let named = value("FERRY_STATE") {
      (path, isNamed) = (named, true)
    } else if let base = value("XDG_STATE_HOME"), base.utf8.first == UInt8(ascii: "/") {
      (path, isNamed) = (base + "/ferry", false)
    } else if let home = value("HOME"), home.utf8.first == UInt8(ascii: "/") {
      (path, isNamed) = (home + "/.local/state/ferry", false)
    } else {
      throw JournalError(
        .folderUnknown, file: "ferry",
        cause:
          "--state is missing, FERRY_STATE is not set, and neither XDG_STATE_HOME nor HOME is set to an absolute path"
      )
    }
    try Self.checkIsFolder(path)
    try checkIsPrivate()
  }

  /// A folder on another machine. It cannot be checked here.
  package init(elsewhere path: String) {
    (self.path, isNamed) = (path, true)
  }

  /// Rejects a folder that other users can change or replace. Accepts a missing folder.
  func checkIsPrivate() throws(JournalError) {
    try PrivateFolder.checkParents(of: path)
    try PrivateFolder.check(path, mayBeLink: true)
    try PrivateFolder.check(sessionsFolder)
    try PrivateFolder.check(runsFolder)
  }

  /// Accepts a missing folder, which will be created. If the status of a folder cannot be read, its first use
  /// reports the error.
  private static func checkIsFolder(_ path: String) throws(JournalError) {
    var status = stat()
    let isOther = stat(path, &status) == 0 ? status.st_mode & S_IFMT != S_IFDIR : errno == ENOTDIR
    if isOther { throw notAFolder(path) }
  }

  private static func notAFolder(_ path: String) -> JournalError {
    JournalError(.readOnly, file: path, cause: "it exists but is not a folder")
  }

  package var sessionsFolder: String { path + "/sessions" }
  package var runsFolder: String { path + "/runs" }
  /// The database of the run history and the ledger, shared by all processes of the user.
  package var history: String { path + "/ferry.db" }

  package func database(ofSession identifier: String) throws(JournalError) -> String {
    sessionsFolder + "/" + (try Self.fileName(identifier)) + ".db"
  }

  package func lock(ofSession identifier: String) throws(JournalError) -> String {
    sessionsFolder + "/" + (try Self.fileName(identifier)) + ".lock"
  }

  /// The record of the number of transactions in the session's journal.
  func commits(ofSession identifier: String) throws(JournalError) -> String {
    sessionsFolder + "/" + (try Self.fileName(identifier)) + ".commits"
  }

  /// The file that is written whenever a note is added for the session. The session's holder watches it.
  package func inbox(ofSession identifier: String) throws(JournalError) -> String {
    sessionsFolder + "/" + (try Self.fileName(identifier)) + ".inbox"
  }

  package func folder(ofRun id: String) throws(JournalError) -> String {
    runsFolder + "/" + (try Self.fileName(id))
  }

  package func report(ofRun id: String) throws(JournalError) -> String {
    try folder(ofRun: id) + "/report.json"
  }

  /// The report of a run's work while the requests of `on_end` are sent.
  package func workReport(ofRun id: String) throws(JournalError) -> String {
    try folder(ofRun: id) + "/work.json"
  }

  /// The file in which a run publishes its progress.
  package func progress(ofRun id: String) throws(JournalError) -> String {
    try folder(ofRun: id) + "/progress.json"
  }

  /// A descriptor of the report that a run stored, which the caller closes; `nil` if there is none.
  package func openReport(ofRun id: String) throws(JournalError) -> Int32? {
    let path = try report(ofRun: id)
    var status = stat()
    guard lstat(path, &status) == 0 || errno != ENOENT else { return nil }
    return try StateFile.open(path, O_RDONLY, doing: "read")
  }

  /// Creates the missing folders with mode 0700, and syncs them.
  package func create() throws(JournalError) {
    try Self.createFolder(path)
    try Self.createFolder(sessionsFolder)
    try Self.createFolder(runsFolder)
    // Another user may have created a folder that was missing when the command began.
    try checkIsPrivate()
  }

  /// Creates a run's folder and returns the path of its report.
  package func createReportFolder(ofRun id: String) throws(JournalError) -> String {
    try create()
    let folder = try folder(ofRun: id)
    try Self.createFolder(folder)
    try PrivateFolder.check(folder)
    return try report(ofRun: id)
  }

  /// The identifiers of all sessions that have a journal here, sorted.
  package func sessions() throws(JournalError) -> [String] { try sessions(with: ".db") }

  /// The identifiers of all sessions that a process has ever locked here, sorted.
  package func lockedSessions() throws(JournalError) -> [String] { try sessions(with: ".lock") }

  /// The identifiers of all sessions that have a record of their transactions, sorted.
  func recordedSessions() throws(JournalError) -> [String] { try sessions(with: ".commits") }

  private func sessions(with suffix: String) throws(JournalError) -> [String] {
    try Self.names(in: sessionsFolder).filter { $0.hasSuffix(suffix) }
      .compactMap { String($0.dropLast(suffix.utf8.count)).removingPercentEncoding }
      .filter { !$0.unicodeScalars.contains(where: Self.isInvisible) }.sorted()
  }

  /// Whether a character could change the display of the surrounding text in a terminal. Manifest names
  /// never contain such characters.
  private static func isInvisible(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator: true
    default: false
    }
  }

  /// The names in a folder; empty if the folder is missing. An unreadable folder is an error, because it may
  /// contain any names.
  static func names(in folder: String) throws(JournalError) -> [String] {
    guard let stream = opendir(folder) else {
      guard errno == ENOENT else { throw JournalError(errno: errno, doing: "read", file: folder) }
      return []
    }
    closedir(stream)
    do {
      return try FileManager.default.contentsOfDirectory(atPath: folder)
    } catch {
      throw JournalError(.io, file: folder, cause: "read: \(error.localizedDescription)")
    }
  }

  /// Encodes a name as one file name, injectively: characters other than letters, digits, '-', '_' and inner
  /// '.' become %XX.
  static func fileName(_ name: String) throws(JournalError) -> String {
    var encoded = ""
    for (index, byte) in name.utf8.enumerated() {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
        encoded.unicodeScalars.append(Unicode.Scalar(byte))
      case UInt8(ascii: ".") where index > 0:
        encoded.append(".")
      default:
        encoded.append("%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true))
      }
    }
    // File names are limited to 255 bytes, and ".db-journal" is appended.
    guard (1...200).contains(encoded.utf8.count) else {
      throw JournalError(
        .nameRefused, file: "\"\(name)\"", cause: "as a file name, it would have \(encoded.utf8.count) bytes")
    }
    return encoded
  }

  static func createFolder(_ folder: String, hasParent: Bool = false) throws(JournalError) {
    if mkdir(folder, 0o700) == 0 {
      // The umask may have removed permissions that the user needs.
      guard chmod(folder, 0o700) == 0 else { throw JournalError(errno: errno, doing: "chmod", file: folder) }
      // Without the sync, a power failure could remove the folder together with the synced journal in it.
      try syncFolder(SplitPath(folder).folder)
      return
    }
    let code = errno
    switch code {
    case EEXIST:
      var status = stat()
      guard stat(folder, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
        throw notAFolder(folder)
      }
    case ENOENT:
      let parent = SplitPath(folder).folder
      // /proc reports ENOENT for every new folder, so try to create the parent only once.
      guard !hasParent, !parent.isEmpty, parent != folder else {
        throw JournalError(errno: code, doing: "create", file: folder)
      }
      try createFolder(parent)
      try createFolder(folder, hasParent: true)
    default:
      throw JournalError(errno: code, doing: "create", file: folder)
    }
  }

  static func syncFolder(_ folder: String) throws(JournalError) {
    let descriptor = open(folder.isEmpty ? "." : folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    // A parent folder with search but not read permission cannot be synced. The system syncs it eventually.
    guard descriptor >= 0 else { return }
    defer { close(descriptor) }
    // Some file systems cannot sync a folder (EINVAL). There is no workaround.
    guard fsync(descriptor) == 0 || errno == EINVAL else {
      throw JournalError(errno: errno, doing: "sync", file: folder)
    }
  }
}
