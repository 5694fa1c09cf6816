import FerryPlan
import FerryTransfer
import Foundation

/// Files that a list names individually.
struct ExplicitList {
  private let root: SourceRoot
  /// A folder whose files are skipped.
  private let hidden: [UInt8]?
  private let stateFolder: StateFolder?
  /// Whether the run was stopped. If so, the rest of the list is not read.
  private let isStopped: () -> Bool
  /// The folder of the last path; `nil` in it if a link is on the way.
  private var lastFolder: (path: [UInt8], opened: SourceRoot.PlainFolder?)?
  private var found = FileColumns()
  private var problems: [ListingProblem] = []

  init(
    root: SourceRoot, hidden: [UInt8]? = nil, stateFolder: StateFolder? = nil,
    isStopped: @escaping () -> Bool = { false }
  ) {
    self.hidden = hidden
    self.stateFolder = stateFolder
    self.root = root
    self.isStopped = isStopped
  }

  /// Reads a list of paths. Blank lines are skipped; a carriage return is part of the path.
  mutating func read(_ bytes: [UInt8], nullSeparated: Bool) -> Listing {
    read(bytes.split(separator: nullSeparated ? 0 : 0x0A).map { Array($0) })
  }

  mutating func read(_ paths: [[UInt8]]) -> Listing {
    for (index, path) in paths.enumerated() {
      if index % 256 == 0, isStopped() { break }
      take(path)
    }
    return Listing(files: sorted(), problems: problems)
  }

  private mutating func take(_ line: [UInt8]) {
    guard !line.contains(0) else { return report(line, .missing, "a name with NUL in it") }
    let path: [UInt8]
    do throws(Refusal) { path = try relative(line) } catch {
      switch error {
      case .outsideRoot: return report(line, .outsideRoot, "it is outside the root")
      case .parentOfNoFolder:
        return report(line, .other, "it has '..' after a symbolic link or a missing folder")
      }
    }
    guard !path.isEmpty else { return report(line, .notRegular, "not a regular file") }
    guard !isHidden(path) else {
      return report(line, .putAway, "it is in the folder that delivered files are moved to")
    }
    guard let status = status(of: path, line) else { return }
    guard status.isRegular else { return report(line, .notRegular, "not a regular file") }
    found.append(
      path: path, size: Int64(status.st_size), modified: status.modifiedNanoseconds,
      identity: status.identity)
  }

  /// Why a path is not looked up.
  private enum Refusal: Error {
    case outsideRoot
    /// After a symbolic link, `..` leads elsewhere than the text says.
    case parentOfNoFolder
  }

  /// The path without `.`, `..` and repeated slashes.
  private mutating func relative(_ line: [UInt8]) throws(Refusal) -> [UInt8] {
    var rest = line[...]
    if line.first == 0x2F {
      let folder = [root.path, root.real].first { line.starts(with: $0) && FileLister.isInside(line, $0) }
      guard let folder else { throw .outsideRoot }
      rest = line[folder.count...]
    }
    var parts: [ArraySlice<UInt8>] = []
    for part in rest.split(separator: 0x2F) {
      if part.elementsEqual([0x2E]) { continue }
      guard part.elementsEqual([0x2E, 0x2E]) else {
        parts.append(part)
        continue
      }
      guard !parts.isEmpty else { throw .outsideRoot }
      guard plainFolder(Array(parts.joined(separator: [0x2F]))) != nil else { throw .parentOfNoFolder }
      parts.removeLast()
    }
    return Array(parts.joined(separator: [0x2F]))
  }

  /// What a path of the list leads to; `nil`, with a problem, if it is not there or not followed.
  private mutating func status(of path: [UInt8], _ line: [UInt8]) -> stat? {
    let (folder, name) = Self.split(path)
    guard stateFolder?.contains(path, below: root.real) != true else {
      report(line, .stateFolder, Self.inStateFolder)
      return nil
    }
    if let opened = plainFolder(folder) {
      var status = stat()
      guard opened.status(of: name, &status) else {
        report(line, errno)
        return nil
      }
      guard status.st_mode & S_IFMT == S_IFLNK else { return status }
    }
    // A link can be a long way: a run must not wait for thousands of them.
    guard !isStopped() else { return nil }
    do throws(SourceRoot.OpenFailure) {
      let target = try root.target(of: path)
      guard stateFolder?.isReached(from: path, below: root.real) != true else {
        report(line, .stateFolder, Self.inStateFolder)
        return nil
      }
      guard let reason = LinkOwner.refusal(of: target) else { return target.status }
      report(line, .permission, reason)
    } catch {
      switch error {
      case .leavesRoot: report(line, .outsideRoot, "a link that leaves the root")
      case .system(let code): report(line, code)
      }
    }
    return nil
  }

  /// A folder without a link on the way, open. A list often names many files of one folder, so the last one stays open:
  /// what is listed in it is in the folder that was checked, whatever takes its name meanwhile.
  private mutating func plainFolder(_ folder: [UInt8]) -> SourceRoot.PlainFolder? {
    if let lastFolder, lastFolder.path == folder { return lastFolder.opened }
    let opened = root.plainFolder(folder)
    lastFolder = (folder, opened)
    return opened
  }

  /// Whether a path is in the folder of `move_to`, directly or through a link.
  private mutating func isHidden(_ path: [UInt8]) -> Bool {
    guard let hidden else { return false }
    if FileLister.isInside(path, hidden) { return true }
    let (folder, _) = Self.split(path)
    guard plainFolder(folder) == nil, let real = FileLister.real(root.real + [0x2F] + folder) else {
      return false
    }
    return FileLister.isInside(real, root.real + [0x2F] + hidden)
  }

  private static let inStateFolder = "it is in ferry's state folder"

  /// The folder and the last name of a path.
  private static func split(_ path: [UInt8]) -> (folder: [UInt8], name: [UInt8]) {
    guard let slash = path.lastIndex(of: 0x2F) else { return ([], path) }
    return (Array(path[..<slash]), Array(path[(slash + 1)...]))
  }

  private mutating func report(_ line: [UInt8], _ code: Int32) {
    switch code {
    case ENOENT, ENOTDIR: report(line, .missing, "it is not there")
    case EACCES, EPERM: report(line, .permission, FileLister.reason(code))
    default: report(line, .other, FileLister.reason(code))
    }
  }

  private mutating func report(_ line: [UInt8], _ kind: ListingProblem.Kind, _ message: String) {
    problems.append(ListingProblem(path: line, kind: kind, message: message))
  }

  private func sorted() -> FileColumns {
    var sorted = FileColumns()
    let order = found.paths.withUnsafeBufferPointer { paths in
      (0..<found.count).sorted { a, b in
        let (x, y) = (found.pathRange(a), found.pathRange(b))
        return UnsafeBufferPointer(rebasing: paths[x]).lexicographicallyPrecedes(
          UnsafeBufferPointer(rebasing: paths[y]))
      }
    }
    var last: Int?
    for index in order {
      if let last, found.path(last) == found.path(index) { continue }
      sorted.append(index, of: found)
      last = index
    }
    return sorted
  }
}
