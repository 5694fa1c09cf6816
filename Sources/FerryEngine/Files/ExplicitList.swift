import FerryJournal
import FerryPlan
import FerryTransfer
import Foundation

/// Files that are named individually in a list.
struct ExplicitList {
  private let root: SourceRoot
  /// The reason why no file of the root is listed; `nil` if there is none.
  private let refusal: String?
  /// A folder whose files are skipped.
  private let hidden: HiddenFolder?
  private let stateFolder: StateFolder?
  private let links: LinkOwner
  private var budget = LookupBudget()
  /// The files to list; `nil` for all files.
  private let filter: ShardFilter?
  /// The paths of the state folder relative to the root; empty if it is not below the root.
  private let statePaths: [[UInt8]]
  /// Whether the run was stopped. If so, the rest of the list is not read.
  private let isStopped: () -> Bool
  /// The folder of the last path. Its `opened` is `nil` if the folder cannot be opened without following a link.
  private var lastFolder: Folder?
  private var found = FileColumns()
  private var problems: ListingProblems

  private struct Folder {
    var path: [UInt8]
    var opened: SourceRoot.PlainFolder?
    /// Whether the path contains the skipped folder (`isHidden`) or a state folder (`state`).
    var isHidden = false
    var state = StateFolder.Membership.none
  }

  init(
    root: SourceRoot, refusal: String? = nil, hidden: HiddenFolder? = nil, stateFolder: StateFolder? = nil,
    links: LinkOwner = LinkOwner(), filter: ShardFilter? = nil,
    problems: ListingProblems = ListingProblems(),
    isStopped: @escaping () -> Bool = { false }
  ) {
    self.hidden = hidden
    self.stateFolder = stateFolder
    self.links = links
    self.filter = filter
    statePaths = stateFolder?.paths(below: root.real) ?? []
    self.root = root
    self.refusal = refusal
    self.problems = problems
    self.isStopped = isStopped
  }

  /// Reads a list of paths. Blank lines are skipped; a carriage return is part of the path.
  ///
  /// The paths are read in place: as separate arrays, they would take several times the memory of the list.
  ///
  /// - Parameter isTaken: whether ferry has delivered the file with this path and then deleted or moved it. If so, the
  ///   file is skipped. Called only for paths at which no file exists.
  mutating func read(
    _ bytes: [UInt8], nullSeparated: Bool, isTaken: ([UInt8]) throws -> Bool
  ) rethrows -> Listing {
    let separator: UInt8 = nullSeparated ? 0 : 0x0A
    var (start, count) = (0, 0)
    while start < bytes.count {
      if count % Self.interval == 0, isStopped() { break }
      count += 1
      let end = bytes[start...].firstIndex(of: separator) ?? bytes.endIndex
      if end > start { try take(bytes[start..<end], isTaken: isTaken) }
      start = end + 1
    }
    return listing
  }

  mutating func read(_ paths: [[UInt8]]) -> Listing {
    for (index, path) in paths.enumerated() {
      if index % Self.interval == 0, isStopped() { break }
      take(path[...]) { _ in false }
    }
    return listing
  }

  /// The number of paths between two checks of whether the run was stopped.
  private static let interval = 256

  private var listing: Listing { Listing(files: sorted(), problems: problems) }

  private mutating func take(
    _ line: ArraySlice<UInt8>, isTaken: ([UInt8]) throws -> Bool
  ) rethrows {
    guard !line.contains(0) else { return report(line, .missing, "its name contains NUL") }
    let path: [UInt8]
    do throws(Refusal) { path = try relative(line) } catch {
      guard filter?.contains(line) ?? true else { return }
      switch error {
      case .stopped: return
      case .outsideRoot: return report(line, .outsideRoot, "it is outside the root")
      case .parentOfNoFolder:
        return report(line, .other, "it contains '..' after a symbolic link or a missing folder")
      case .tooLong: return report(line, .other, FileLister.reason(ENAMETOOLONG))
      case .tooManySteps: return report(line, .other, LookupBudget.refusal)
      }
    }
    guard filter?.contains(path) ?? true else { return }
    if let refusal { return report(line, .unknownState, refusal) }
    guard !path.isEmpty else { return report(line, .notRegular, "it is not a regular file") }
    guard !isHidden(path) else {
      return report(line, .putAway, "it is in the folder to which delivered files are moved")
    }
    guard !TemporaryName.matches(Self.split(path).name) else {
      return report(line, .temporary, "it is one of ferry's temporary files and may be incomplete")
    }
    switch look(at: path, line) {
    case .found(let status, let isLink):
      guard status.isRegular else { return report(line, .notRegular, "it is not a regular file") }
      if let refusal = status.sizeRefusal { return report(line, .other, refusal) }
      found.append(
        path: path, size: Int64(status.st_size), modified: status.modifiedNanoseconds,
        identity: status.identity(throughLink: isLink))
    case .missing: if try !isTaken(path) { reportMissing(line) }
    case .skipped: break
    }
  }

  /// The reason why a path is not looked up.
  private enum Refusal: Error {
    case outsideRoot
    /// After a symbolic link, `..` leads to a different folder than the text suggests.
    case parentOfNoFolder
    /// The path is longer than the kernel accepts. With the wrong separator, a whole list is read as one such
    /// path.
    case tooLong
    /// The folders before its `..` have too many components (`LookupBudget`).
    case tooManySteps
    /// The run was stopped.
    case stopped
  }

  /// Returns the path without `.`, `..` and repeated slashes.
  private mutating func relative(_ line: ArraySlice<UInt8>) throws(Refusal) -> [UInt8] {
    var rest = line
    if line.first == 0x2F {
      let folder = [root.path, root.real].first {
        line.starts(with: $0)
          && ($0 == [0x2F] || line.count == $0.count || line.dropFirst($0.count).first == 0x2F)
      }
      guard let folder else { throw .outsideRoot }
      rest = line.dropFirst(folder.count)
    }
    guard rest.count < Int(PATH_MAX) else { throw .tooLong }
    var parts: [ArraySlice<UInt8>] = []
    // The number of leading parts that are known to form the path of a folder without links. The folders above such a
    // folder are known too, so a sequence of `..` needs only one look.
    var known = 0
    var steps = 0
    defer { budget.spend(steps) }
    for part in rest.split(separator: 0x2F) {
      if part.elementsEqual([0x2E]) { continue }
      guard part.elementsEqual([0x2E, 0x2E]) else {
        parts.append(part)
        continue
      }
      guard !parts.isEmpty else { throw .outsideRoot }
      if parts.count > known {
        // A path can contain hundreds of `..` that each need a look, and each look opens every folder above.
        guard !isStopped() else { throw .stopped }
        steps += parts.count
        guard steps <= budget.limit else { throw .tooManySteps }
        guard plainFolder(Array(parts.joined(separator: [0x2F]))) != nil else { throw .parentOfNoFolder }
      }
      parts.removeLast()
      known = parts.count
    }
    return Array(parts.joined(separator: [0x2F]))
  }

  /// The result of looking up a path.
  private enum Look {
    case found(stat, isLink: Bool)
    /// No file, folder or link has this path. The problem has not been reported yet.
    case missing
    /// The path was reported, or the run was stopped.
    case skipped
  }

  /// Looks up a path of the list. If the path contains a link that is not followed, reports a problem.
  private mutating func look(at path: [UInt8], _ line: ArraySlice<UInt8>) -> Look {
    let (folder, name) = Self.split(path)
    func skip(_ kind: ListingProblem.Kind, _ message: String) -> Look {
      report(line, kind, message)
      return .skipped
    }
    func skip(_ state: StateFolder.Membership) -> Look {
      state == .unknown
        ? skip(.unknownState, StateFolder.Membership.unknownMessage)
        : skip(.stateFolder, "it is in ferry's state folder")
    }
    guard !statePaths.contains(where: { FileLister.isInside(path, $0) }) else { return skip(.own) }
    var isLink = false
    if let opened = plainFolder(folder) {
      var status = stat()
      guard opened.status(of: name, &status) else { return failure(errno, line) }
      let state = stateFolder?.contains(status) == true ? .own : lastFolder?.state ?? .none
      guard state == .none else { return skip(state) }
      guard status.st_mode & S_IFMT == S_IFLNK else {
        var parent = stat()
        guard opened.status(of: [0x2E], &parent) else { return failure(errno, line) }
        return links.refusal(ofName: status, in: parent).map { skip(.permission, $0) }
          ?? .found(status, isLink: false)
      }
      isLink = true
    }
    // Following the symbolic links in a path takes time, and a list may contain thousands of such paths.
    guard !isStopped() else { return .skipped }
    do throws(SourceRoot.OpenFailure) {
      let target = try root.target(
        of: path, avoiding: stateFolder.map { $0.isOpen(as:) }, within: &budget)
      guard !target.isAvoided, stateFolder?.contains(target.status) != true else {
        return skip(stateFolder?.isUnknown(path, below: root) == true ? .unknown : .own)
      }
      guard let reason = links.refusal(of: target) else {
        return .found(target.status, isLink: target.isLink)
      }
      return skip(.permission, reason)
    } catch {
      switch error {
      case .leavesRoot: return skip(.outsideRoot, "it is a link that leads out of the root")
      case .tooManySteps: return skip(.other, LookupBudget.refusal)
      case .system(let code): return failure(code, line, isLink: isLink)
      }
    }
  }

  /// The result for a path that cannot be looked up.
  ///
  /// - Parameter isLink: whether the path itself is a link. If so, and if its target does not exist, the path is
  ///   reported without a call of `isTaken`.
  private mutating func failure(_ code: Int32, _ line: ArraySlice<UInt8>, isLink: Bool = false) -> Look {
    switch code {
    case ENOENT, ENOTDIR:
      guard isLink else { return .missing }
      reportMissing(line)
    case EACCES, EPERM: report(line, .permission, FileLister.reason(code))
    default: report(line, .other, FileLister.reason(code))
    }
    return .skipped
  }

  /// Opens a folder if the path to it does not contain a link. A list often names many files in one folder,
  /// so the last folder stays open: all its files are in the folder that was checked, even if its path is
  /// replaced in the meantime.
  private mutating func plainFolder(_ folder: [UInt8]) -> SourceRoot.PlainFolder? {
    if let lastFolder, lastFolder.path == folder { return lastFolder.opened }
    var found = Folder(path: folder)
    found.opened = root.plainFolder(folder) { descriptor in
      if hidden?.identity?.isOpen(as: descriptor) == true { found.isHidden = true }
      // The state of a run may be below another folder with such a file.
      if found.state != .own, let state = stateFolder?.membership(of: descriptor), state != .none {
        found.state = state
      }
    }
    lastFolder = found
    return found.opened
  }

  /// Whether a path is in the folder of `move_to`, directly or through a link.
  private mutating func isHidden(_ path: [UInt8]) -> Bool {
    guard let hidden else { return false }
    if FileLister.isInside(path, hidden.path) { return true }
    let (folder, _) = Self.split(path)
    if plainFolder(folder) != nil { return lastFolder?.isHidden == true }
    // If the path does not lead to a file, the problem is reported later.
    guard let identity = hidden.identity,
      let target = try? root.target(of: path, avoiding: identity.isOpen(as:), within: &budget)
    else { return false }
    return target.isAvoided
  }

  /// The folder and the last component of a path.
  private static func split(_ path: [UInt8]) -> (folder: [UInt8], name: [UInt8]) {
    guard let slash = path.lastIndex(of: 0x2F) else { return ([], path) }
    return (Array(path[..<slash]), Array(path[(slash + 1)...]))
  }

  private mutating func reportMissing(_ line: ArraySlice<UInt8>) {
    report(line, .missing, "it does not exist")
  }

  /// Reports a line. Only the beginning of a line longer than PATH_MAX is kept: it cannot be a path, and may
  /// be a whole list with another separator.
  private mutating func report(_ line: ArraySlice<UInt8>, _ kind: ListingProblem.Kind, _ message: String) {
    problems.append(ListingProblem(path: Array(line.prefix(Int(PATH_MAX))), kind: kind, message: message))
  }

  /// The files in the order of their paths' bytes, without duplicates; incomplete if the run was stopped.
  private func sorted() -> FileColumns {
    var sorted = FileColumns()
    guard let order else { return sorted }
    var last: Int?
    for (count, index) in order.enumerated() {
      if count % Self.sortInterval == 0, isStopped() { break }
      if let last, found.path(last) == found.path(index) { continue }
      sorted.append(index, of: found)
      last = index
    }
    return sorted
  }

  /// The number of files between two checks of whether the run was stopped.
  private static let sortInterval = 1 << 16

  /// The files as positions in `found`, in the order of their paths' bytes; `nil` if the run was stopped.
  private var order: [Int]? {
    var order = Array(0..<found.count)
    let isSorted = found.paths.withUnsafeBufferPointer { paths in
      order.sort(unless: isStopped) { a, b in
        let (x, y) = (found.pathRange(a), found.pathRange(b))
        return UnsafeBufferPointer(rebasing: paths[x]).lexicographicallyPrecedes(
          UnsafeBufferPointer(rebasing: paths[y]))
      }
    }
    return isSorted ? order : nil
  }
}
