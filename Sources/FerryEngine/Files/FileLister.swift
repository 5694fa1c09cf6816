import FerryManifest
import FerryPlan
import FerryTransfer
import Foundation
import Synchronization

/// Lists the files of a selection.
package struct FileLister: Sendable {
  /// The absolute path of the root in bytes, used to open files; without a trailing slash.
  package let root: [UInt8]
  let source: FileSelection.Source
  /// The folder to which delivered files are moved, relative to the root. Its files are not listed.
  private let hidden: [UInt8]?
  /// Whether the run was stopped, or its time limit has passed. If so, listing stops soon and does not return
  /// files: a stopped run does not start anything, and must not spend time comparing files.
  var isStopped: @Sendable () -> Bool = { false }
  /// The state folder, set by `listers(environment:state:)`. Its files are not listed.
  var stateFolder: StateFolder?
  /// What the list of a download batch cannot replace.
  var reserved = ReservedPaths()
  /// The files that belong to the shard of this launch; `nil` if the manifest is not divided.
  var filter: ShardFilter?
  private let baseFolder: String
  private let home: String?
  private let opened = OpenedRoot()
  /// The items of a download batch's list; `nil` for an upload.
  let listed: ListedItems?
  /// Who determines the contents of the list.
  var listAuthor = ListAuthor.user
  /// The fetches of the run that store the list.
  var listFetches: Set<ListFetch> = []
  /// The fields of the list to which the request for an item refers.
  var requestFields: [String] = []

  var links = LinkOwner()

  enum ListAuthor {
    case user
    /// A fetch or a download batch of the run can store the list.
    case server
  }

  /// A fetch of a manifest of the run.
  struct ListFetch: Hashable {
    var manifest: String
    var fetch: String
  }

  /// The root once it is open. This lister and its copies list and send files of this one folder, even if a different
  /// folder takes its name in the meantime. Only `named(_:)` opens the path again.
  private final class OpenedRoot: Sendable {
    let root = Mutex<SourceRoot?>(nil)
  }

  /// - Parameters:
  ///   - baseFolder: the manifest's folder, to which relative paths are relative.
  ///   - home: the folder that replaces `~` in `~/`.
  /// - Throws: `ListingFailure` if `~/` is used and there is no home directory.
  package init(
    _ selection: FileSelection, after: Upload.After = .keep, baseFolder: String, home: String?
  ) throws(ListingFailure) {
    if case .moveTo(let folder) = after {
      hidden = Self.plain(Array(folder.utf8))
    } else {
      hidden = nil
    }
    self.baseFolder = baseFolder
    self.home = home
    source = selection.source
    if case .items = selection.source { listed = ListedItems() } else { listed = nil }
    root = try Self.absolute(selection.root, baseFolder: baseFolder, home: home)
  }

  /// Lists the files to send. The listing is empty if the run is stopped meanwhile.
  ///
  /// - Parameters:
  ///   - isTaken: whether ferry has delivered the file with this path and then deleted or moved it. Called for each
  ///     path of an explicit list at which no file exists; if it returns true, the path is not a problem.
  ///   - standardInput: returns the bytes for `list: -`; not called otherwise.
  /// - Throws: `ListingFailure` if the root or list cannot be read, or the error of `isTaken` or `standardInput`.
  package func list(
    isTaken: ([UInt8]) throws -> Bool = { _ in false }, standardInput: () throws -> [UInt8]
  ) throws -> Listing {
    let listing = try allFiles(isTaken: isTaken, standardInput: standardInput)
    return isStopped() ? Listing() : listing
  }

  private func allFiles(
    isTaken: ([UInt8]) throws -> Bool, standardInput: () throws -> [UInt8]
  ) throws -> Listing {
    let root = try checked(try folder())
    let hidden = hidden.map { HiddenFolder(path: $0, identity: root.identity(of: $0)) }
    switch source {
    case .globs(let include, let exclude):
      if let refusal = unknownState(of: root) { return refused(refusal) }
      var walk = try walk(include, exclude, beneath: root)
      return try walk.run()
    case .items(let items): return try itemListing(items, beneath: root)
    case .list(let name, let nullSeparated):
      let bytes = try name == "-" ? standardInput() : lines(of: name, separator: nullSeparated ? 0 : 0x0A)
      var list = ExplicitList(
        root: root, refusal: unknownState(of: root), hidden: hidden, stateFolder: stateFolder, links: links,
        filter: filter, isStopped: isStopped)
      return try list.read(bytes, nullSeparated: nullSeparated, isTaken: isTaken)
    }
  }

  func walk(_ include: [String], _ exclude: [String], beneath root: SourceRoot) throws -> FolderWalk {
    FolderWalk(
      root: root, include: try GlobMatcher(include), exclude: try GlobMatcher(exclude),
      hidden: hidden.map { HiddenFolder(path: $0, identity: root.identity(of: $0)) },
      stateFolder: stateFolder, links: links, filter: filter, isStopped: isStopped)
  }

  /// Lists individually named files, whether or not the selection matches them. Paths are relative to the root, or
  /// absolute and inside it. All problems are kept.
  package func named(_ paths: [[UInt8]]) throws(ListingFailure) -> Listing {
    try named(paths, beneath: try currentFolder())
  }

  /// Looks up, beneath the root that this lister has opened, files that an earlier listing may have contained.
  func lookUp(_ paths: [[UInt8]]) throws(ListingFailure) -> Listing {
    try named(paths, beneath: try folder())
  }

  private func named(_ paths: [[UInt8]], beneath root: SourceRoot) throws(ListingFailure) -> Listing {
    let root = try checked(root)
    var list = ExplicitList(
      root: root, refusal: unknownState(of: root),
      hidden: hidden.map { HiddenFolder(path: $0, identity: root.identity(of: $0)) },
      stateFolder: stateFolder, links: links, problems: ListingProblems(limit: .max),
      isStopped: isStopped)
    let listing = list.read(paths)
    return isStopped() ? Listing() : listing
  }

  /// Returns the root; throws if it is in the state folder.
  func checked(_ root: SourceRoot) throws(ListingFailure) -> SourceRoot {
    let descriptor = root.openFolder()
    defer { if descriptor >= 0 { close(descriptor) } }
    guard let stateFolder else { return root }
    if stateFolder.contains(real: root.real) || stateFolder.membership(of: descriptor) == .own {
      throw ListingFailure(
        message:
          "\(Self.text(root.path)) is in ferry's state folder, and files in that folder are never sent\n"
          + "help: choose another 'root', or another state folder with --state")
    }
    return root
  }

  /// The reason why no file of the root is listed: the root is in a folder that looks like the state of shards. `nil` if it is
  /// not. Whoever can create a file in a folder above the root, such as the server of a download, can cause this, so it is not an
  /// error that ends the run.
  func unknownState(of root: SourceRoot) -> String? {
    guard stateFolder != nil else { return nil }
    let descriptor = root.openFolder()
    defer { if descriptor >= 0 { close(descriptor) } }
    guard let levels = StateFolder.levelsToParts(descriptor) else { return nil }
    let names = root.real.split(separator: 0x2F).dropLast(levels)
    let folder = Self.text([0x2F] + Array(names.joined(separator: [0x2F])))
    return
      "the root is in \(folder), which contains ferry's file 'shard' or 'count', which marks a state folder. Choose another "
      + "'root', or remove that file if the folder contains no state of ferry"
  }

  /// A listing without files, with the reason. If the manifest is divided, one shard reports it.
  func refused(_ reason: String) -> Listing {
    var listing = Listing()
    let path: [UInt8] = [0x2E]
    guard filter?.contains(path) ?? true else { return listing }
    listing.problems.append(ListingProblem(path: path, kind: .unknownState, message: reason))
    return listing
  }

  /// The root, opened by the first call and kept open.
  func folder() throws(ListingFailure) -> SourceRoot {
    let root = root
    return try openedRoot.mapError { ListingFailure.root(root, $0) }.get()
  }

  /// The reason why the root cannot be opened; `nil` if it can be opened.
  var rootFailure: RecordedFailure? {
    do throws(ListingFailure) {
      _ = try folder()
      return nil
    } catch {
      return error.root
    }
  }

  /// The root, opened on first access and kept open.
  var openedRoot: Result<SourceRoot, FolderPath.Failure> {
    opened.root.withLock { opened in
      if let opened { return .success(opened) }
      return Self.open(root).map { root in
        opened = root
        return root
      }
    }
  }

  /// Opens the root's path again. The path may now lead to a different folder. Files listed in the previous folder are
  /// not confused with files in the new one, because the identities of the folders differ.
  private func currentFolder() throws(ListingFailure) -> SourceRoot {
    let root = root
    let result = opened.root.withLock { opened in
      Self.open(root).map { now in
        if let opened, opened.isSameFolder(as: now) { return opened }
        opened = now
        return now
      }
    }
    return try result.mapError { ListingFailure.root(root, $0) }.get()
  }

  private static func open(_ root: [UInt8]) -> Result<SourceRoot, FolderPath.Failure> {
    do throws(FolderPath.Failure) {
      return .success(try SourceRoot(root))
    } catch {
      return .failure(error)
    }
  }

  /// Reads a list of paths or URLs.
  func lines(of name: String, separator: UInt8 = 0x0A) throws(ListingFailure) -> [UInt8] {
    switch listAuthor {
    case .user: return try contents(of: name, limit: Self.largestList)
    case .server:
      let bytes = try contents(of: name, limit: Self.largestFetchedList)
      guard bytes.count(where: { $0 == separator }) <= JSONParser.listValueLimit else {
        let path = Self.text(try Self.absolute(name, baseFolder: baseFolder, home: home))
        throw ListingFailure(
          message: "cannot read the list \(path): it contains more than \(JSONParser.listValueLimit) lines")
      }
      return bytes
    }
  }

  func contents(of name: String, limit: Int) throws(ListingFailure) -> [UInt8] {
    let path = try Self.absolute(name, baseFolder: baseFolder, home: home)
    func failure(_ reason: String) -> ListingFailure {
      ListingFailure(message: "cannot read the list \(Self.text(path)): \(reason)")
    }
    // A FIFO, or a file on which another process holds a lease, must not prevent the run from handling
    // signals.
    let descriptor: Int32
    do throws(FolderPath.Failure) { descriptor = try FolderPath.file(path, for: .readingAtOnce) } catch {
      throw failure(error.reason)
    }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw failure(Self.reason(errno)) }
    guard status.isRegular else {
      throw failure("it is not a regular file; use 'list: -' to read standard input")
    }
    guard status.st_size <= limit else {
      throw failure("its size is \(status.st_size) bytes, and the limit is \(limit)")
    }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(Int(status.st_size))
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while bytes.count <= limit {
      if isStopped() { return [] }
      let count = read(descriptor, &buffer, buffer.count)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw failure(Self.reason(errno)) }
      if count == 0 { return bytes }
      bytes += buffer[..<count]
    }
    throw failure("it grew while it was being read")
  }

  /// The maximum size of a user's list in bytes: ten million paths of 100 bytes.
  static let largestList = 1 << 30
  /// The maximum size in bytes of a list that a server determines, and of a list in JSON, which takes several times its
  /// size in memory.
  static let largestFetchedList = 64 << 20

  static func absolute(
    _ path: String, baseFolder: String, home: String?
  ) throws(ListingFailure) -> [UInt8] {
    var path = path
    if path == "~" || path.utf8.starts(with: "~/".utf8) {
      guard let home, !home.isEmpty else {
        throw ListingFailure(message: "'\(path)' requires a home directory, but HOME is not set")
      }
      path = home + String(path.unicodeScalars.dropFirst())
    } else if path.utf8.first != UInt8(ascii: "/") {
      path = baseFolder + "/" + path
    }
    if path.utf8.first != UInt8(ascii: "/") { path = FileManager.default.currentDirectoryPath + "/" + path }
    var bytes = Array(path.utf8)
    while bytes.count > 1, bytes.last == UInt8(ascii: "/") { bytes.removeLast() }
    return bytes
  }

  static func terminated(_ path: [UInt8]) -> [CChar] { path.map { CChar(bitPattern: $0) } + [0] }

  /// The path without `.` and repeated slashes.
  static func plain(_ path: [UInt8]) -> [UInt8] {
    Array(path.split(separator: 0x2F).filter { !$0.elementsEqual([0x2E]) }.joined(separator: [0x2F]))
  }

  /// The path for display.
  static func text(_ path: [UInt8]) -> String { DisplayPath.shown(path) }
  static func reason(_ code: Int32) -> String { String(cString: strerror(code)) }

  /// The real path, with all links followed; `nil` if it cannot be determined.
  static func real(_ path: [UInt8]) -> [UInt8]? {
    guard let found = realpath(terminated(path), nil) else { return nil }
    defer { free(found) }
    return Array(UnsafeRawBufferPointer(start: found, count: strlen(found)))
  }

  /// Whether a real path is the folder or inside it.
  static func isInside(_ path: [UInt8], _ folder: [UInt8]) -> Bool {
    folder == [0x2F] || path == folder || (path.starts(with: folder) && path[folder.count] == 0x2F)
  }
}

extension stat {
  var isRegular: Bool { st_mode & S_IFMT == S_IFREG }
}
