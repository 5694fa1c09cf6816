import FerryJournal
import FerryPlan
import FerryTransfer
import Foundation

/// Walks the folders in which globs can match, and returns files in the order of their paths' bytes.
///
/// A folder is read completely, sorted with a slash appended to the names of subfolders, and then traversed,
/// so files are returned in order.
struct FolderWalk {
  /// The maximum number of open folders. Folders further up are reopened from the root when the walk returns to them.
  static let openLimit = 64

  private struct Level {
    /// -1 while the folder is closed.
    var descriptor: Int32
    var status: stat
    var pathLength: Int
    /// The index of the next entry.
    var position: Int
    var include: GlobMatcher.State
    var exclude: GlobMatcher.State
  }

  private let root: SourceRoot
  private let include: GlobMatcher
  private let exclude: GlobMatcher
  /// The path of a folder that is skipped, with a trailing slash.
  private let hidden: [UInt8]?
  private let hiddenIdentity: FolderIdentity?
  private let stateFolder: StateFolder?
  private let links: LinkOwner
  private var budget = LookupBudget()
  private let filter: ShardFilter?
  private var entries = FolderEntries()
  private var levels: [Level] = []
  /// The path of the current folder, with a trailing slash.
  private var path: [UInt8] = []
  private var listing = Listing()
  private var includeState: GlobMatcher.State
  private var excludeState: GlobMatcher.State
  private var includeScratch: GlobMatcher.State
  private var unmatched: UnmatchedGlobs
  private var excludeScratch: GlobMatcher.State

  /// Whether the run was stopped. Checked between folders, between links, and every thousand entries of a
  /// folder.
  private let isStopped: () -> Bool
  /// Whether a folder was not read completely because the run was stopped. The walk does not continue, even if
  /// `isStopped` no longer returns `true` because the run has received the signal.
  private var wasStopped = false

  /// - Parameters:
  ///   - hidden: a folder to skip.
  ///   - stateFolder: another folder to skip, with all links into it.
  ///   - filter: the files to list; `nil` for all files.
  ///   - isStopped: if it returns true, the listing contains the files found so far.
  init(
    root: SourceRoot, include: GlobMatcher, exclude: GlobMatcher, hidden: HiddenFolder? = nil,
    stateFolder: StateFolder? = nil, links: LinkOwner = LinkOwner(), filter: ShardFilter? = nil,
    isStopped: @escaping () -> Bool = { false }
  ) {
    self.root = root
    self.stateFolder = stateFolder
    self.links = links
    self.filter = filter
    self.isStopped = isStopped
    self.hidden = hidden.map { $0.path + [0x2F] }
    hiddenIdentity = hidden?.identity
    self.include = include
    self.exclude = exclude
    includeState = include.start
    includeScratch = include.start
    unmatched = UnmatchedGlobs(include)
    excludeState = exclude.start
    excludeScratch = exclude.start
  }

  mutating func run() throws(ListingFailure) -> Listing {
    try begin()
    advance(to: .max)
    return end()
  }

  /// Opens the root.
  mutating func begin() throws(ListingFailure) {
    let descriptor = root.openFolder()
    guard descriptor >= 0 else { throw ListingFailure.root(root.path, errno) }
    enter(descriptor, include: include.start, exclude: exclude.start)
  }

  /// Whether every folder has been listed.
  var isAtEnd: Bool { levels.isEmpty }

  /// Lists files until there are `count` since the last call of `takeFiles`, or the end is reached.
  mutating func advance(to count: Int) {
    while !levels.isEmpty, listing.files.count < count, !wasStopped, !isStopped() { goOn(to: count) }
  }

  /// Removes and returns the files found since the last call.
  mutating func takeFiles() -> FileColumns {
    let files = listing.files
    listing.files = FileColumns()
    return files
  }

  /// Closes the folders that are still open, and returns the files found since the last call of `takeFiles`, with all
  /// problems.
  mutating func end() -> Listing {
    if levels.isEmpty { listing.unmatched = unmatched.globs }
    for level in levels where level.descriptor >= 0 { close(level.descriptor) }
    levels = []
    return listing
  }

  /// Lists the entries of the deepest folder up to its next subfolder, and enters that subfolder. At the end of the
  /// folder, continues in its parent.
  private mutating func goOn(to count: Int) {
    let depth = levels.count - 1
    while levels[depth].position < entries.count {
      guard listing.files.count < count else { return }
      let entry = entries[levels[depth].position]
      levels[depth].position += 1
      if entry.isFolder {
        descend(entry, depth: depth)
        return
      }
      listing.files.paths.append(contentsOf: path)
      listing.files.paths.append(contentsOf: entries.name(of: entry))
      listing.files.ends.append(listing.files.paths.count)
      listing.files.sizes.append(entry.size)
      listing.files.modified.append(entry.modified)
      listing.files.identities.append(entry.identity)
    }
    let level = levels.removeLast()
    if level.descriptor >= 0 { close(level.descriptor) }
    entries.endFolder()
    path.removeSubrange((levels.last?.pathLength ?? 0)...)
  }

  /// The longest path that the kernel accepts (PATH_MAX), without its terminating NUL. A file with a longer path
  /// cannot be sent.
  private static let longestPath = Int(PATH_MAX) - 1

  private mutating func descend(_ entry: FolderEntries.Entry, depth: Int) {
    let name = Array(entries.name(of: entry))
    guard path.count + name.count < Self.longestPath else { return report(name, ENAMETOOLONG) }
    if levels[depth].descriptor < 0 { reopen(depth) }
    var descriptor: Int32 = -1
    if levels[depth].descriptor >= 0 {
      descriptor = openat(
        levels[depth].descriptor, FileLister.terminated(name),
        O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
    }
    guard descriptor >= 0 else {
      report(name, errno)
      return
    }
    guard hiddenIdentity?.isOpen(as: descriptor) != true, stateFolder?.isOwn(descriptor) != true else {
      close(descriptor)
      return
    }
    match(name + [0x2F], in: depth)
    path += name
    path.append(0x2F)
    if depth >= Self.openLimit, levels[depth - Self.openLimit].descriptor >= 0 {
      close(levels[depth - Self.openLimit].descriptor)
      levels[depth - Self.openLimit].descriptor = -1
    }
    enter(descriptor, include: includeState, exclude: excludeState)
  }

  /// Reopens a folder from the root by its path, together with the folders directly above it.
  private mutating func reopen(_ depth: Int) {
    var current = root.openFolder()
    for level in 0...depth where current >= 0 {
      if level == depth {
        levels[level].descriptor = current
        return
      }
      let name = path[levels[level].pathLength..<(levels[level + 1].pathLength - 1)]
      let below = openat(
        current, FileLister.terminated(Array(name)), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
      if depth - level < Self.openLimit / 2, levels[level].descriptor < 0 {
        levels[level].descriptor = current
      } else {
        close(current)
      }
      current = below
    }
  }

  private mutating func enter(
    _ descriptor: Int32, include: GlobMatcher.State, exclude: GlobMatcher.State
  ) {
    var status = stat()
    if fstat(descriptor, &status) != 0 { report([], errno) }
    levels.append(
      Level(
        descriptor: descriptor, status: status, pathLength: path.count, position: entries.count,
        include: include, exclude: exclude))
    entries.beginFolder()
    // The stream takes ownership of its descriptor; the folder's own descriptor stays open for its files.
    let copy = openat(descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard copy >= 0, let stream = fdopendir(copy) else {
      let code = errno
      if copy >= 0 { close(copy) }
      report([], code)
      return
    }
    errno = 0
    var count = 0
    while let found = readdir(stream) {
      take(found, in: levels.count - 1)
      count += 1
      // The kernel may have to follow many links to resolve one, so check before each link.
      if count % 1000 == 0 || found.pointee.d_type == UInt8(DT_LNK), isStopped() {
        wasStopped = true
        break
      }
      errno = 0
    }
    if errno != 0 { report([], errno) }
    closedir(stream)
    // Checked after the folder was read: the file that identifies a state folder is the first one to be created in it.
    if stateFolder != nil, StateDirectory.isOfShards(descriptor) {
      // If nothing in the folder is selected, nothing is omitted.
      let isOmitted = entries.count > levels[levels.count - 1].position
      entries.clearFolder()
      if isOmitted {
        report([], .unknownState, StateFolder.Membership.unknownMessage)
      }
    }
    if !entries.sortFolder(unless: isStopped) { wasStopped = true }
  }

  private mutating func take(_ found: UnsafeMutablePointer<dirent>, in depth: Int) {
    // The name may be longer than its declared array type; it ends with NUL.
    let pointer = UnsafeRawPointer(found) + (MemoryLayout<dirent>.offset(of: \dirent.d_name) ?? 0)
    let length = strlen(pointer.assumingMemoryBound(to: CChar.self))
    let name = UnsafeRawBufferPointer(start: pointer, count: length)
    if name[0] == 0x2E, length == 1 || (length == 2 && name[1] == 0x2E) { return }
    let letters = pointer.assumingMemoryBound(to: CChar.self)
    let folder = levels[depth].descriptor
    var type = Int32(found.pointee.d_type)
    var status = stat()
    var isKnown = false
    if type == Int32(DT_UNKNOWN) {
      guard fstatat(folder, letters, &status, AT_SYMLINK_NOFOLLOW) == 0 else {
        if errno != ENOENT { report(Array(name), errno) }
        return
      }
      isKnown = true
      type = Int32((status.st_mode & S_IFMT) >> 12)
    }
    guard type == Int32(DT_REG) || type == Int32(DT_DIR) || type == Int32(DT_LNK) else { return }
    match(name, in: depth)
    guard !exclude.accepts(excludeState) else { return }
    if type == Int32(DT_DIR) {
      if let hidden, hidden.count == path.count + length + 1, hidden.starts(with: path),
        hidden[path.count...].starts(with: name)
      {
        return
      }
      withUnsafeBytes(of: UInt8(0x2F)) { include.advance(&includeState, over: $0, scratch: &includeScratch) }
      if !include.isDead(includeState) { entries.appendFolder(name) }
      return
    }
    guard include.accepts(includeState), !TemporaryName.matches(name) else { return }
    if let filter, !filter.contains(path, name) {
      // The file is not examined with stat, so that the listing stays cheap if many shards list one folder. The file
      // still counts as a match of its globs.
      return unmatched.meet(includeState, of: include)
    }
    guard path.count + length <= Self.longestPath else { return report(Array(name), ENAMETOOLONG) }
    if type == Int32(DT_LNK) {
      guard let file = follow(Array(name)) else { return }
      status = file
    } else if !isKnown, fstatat(folder, letters, &status, AT_SYMLINK_NOFOLLOW) != 0 {
      // The file was removed after the folder was read: ignore it.
      if errno != ENOENT { report(Array(name), errno) }
      return
    }
    guard status.isRegular, stateFolder?.contains(status) != true else { return }
    if type != Int32(DT_LNK), let reason = links.refusal(ofName: status, in: levels[depth].status) {
      return report(Array(name), .permission, reason)
    }
    if let refusal = status.sizeRefusal { return report(Array(name), .other, refusal) }
    entries.appendFile(name, status, isLink: type == Int32(DT_LNK))
    unmatched.meet(includeState, of: include)
  }

  /// Advances the states of `include` and `exclude` over a name in a folder.
  private mutating func match(_ name: UnsafeRawBufferPointer, in depth: Int) {
    for word in includeState.indices { includeState[word] = levels[depth].include[word] }
    include.advance(&includeState, over: name, scratch: &includeScratch)
    for word in excludeState.indices { excludeState[word] = levels[depth].exclude[word] }
    exclude.advance(&excludeState, over: name, scratch: &excludeScratch)
  }

  private mutating func match(_ name: [UInt8], in depth: Int) {
    name.withUnsafeBytes { match($0, in: depth) }
  }

  /// Follows a link in the folder that is being listed, and returns the status of its target; `nil` if the
  /// link is not followed, or does not lead to a file.
  private mutating func follow(_ name: [UInt8]) -> stat? {
    func refuse(_ kind: ListingProblem.Kind, _ message: String) {
      listing.problems.append(ListingProblem(path: path + name, kind: kind, message: message))
    }
    do throws(SourceRoot.OpenFailure) {
      let target = try root.target(
        of: path + name, avoiding: stateFolder.map { $0.isOpen(as:) }, within: &budget)
      guard target.status.isRegular else { return nil }
      guard !target.isAvoided else {
        if stateFolder?.isUnknown(path + name, below: root) == true {
          refuse(.unknownState, StateFolder.Membership.unknownMessage)
        }
        return nil
      }
      if let reason = links.refusal(of: target) {
        refuse(.foreignLink, reason)
        return nil
      }
      return target.status
    } catch {
      switch error {
      case .leavesRoot: refuse(.leavingLink, "it is a link that leads out of the root")
      case .tooManySteps: report(name, .other, LookupBudget.refusal)
      // A link that leads nowhere is not a file.
      case .system(ENOENT), .system(ENOTDIR), .system(ELOOP): break
      case .system(let code): report(name, code)
      }
      return nil
    }
  }

  private mutating func report(_ name: [UInt8], _ code: Int32) {
    report(name, code == EACCES || code == EPERM ? .permission : .other, FileLister.reason(code))
  }

  private mutating func report(_ name: [UInt8], _ kind: ListingProblem.Kind, _ message: String) {
    var place = path + name
    if place.last == 0x2F { place.removeLast() }
    // Every shard finds a folder that cannot be read; only the shard to which its path belongs reports it.
    guard filter?.contains(place) ?? true else { return }
    listing.problems.append(ListingProblem(path: place, kind: kind, message: message))
  }
}
