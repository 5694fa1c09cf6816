import FerryManifest
import FerryPlan
import Foundation

/// Finds the files of a selection.
package struct FileLister: Sendable {
  /// The absolute path of the root as bytes, to open files by; no slash at its end.
  package let root: [UInt8]
  let source: FileSelection.Source
  /// The folder that delivered files are moved to, relative to the root: nothing in it is listed.
  private let hidden: [UInt8]?
  /// Whether the run was stopped: what is not listed by then need not be.
  var isStopped: @Sendable () -> Bool = { false }
  private let baseFolder: String
  private let home: String?

  /// - Parameters:
  ///   - baseFolder: the manifest's folder, which relative paths are relative to.
  ///   - home: what `~/` stands for.
  /// - Throws: `ListingFailure` where `~/` is used and there is no home folder.
  package init(
    _ selection: FileSelection, after: Upload.After = .keep, baseFolder: String, home: String?
  ) throws(ListingFailure) {
    if case .moveTo(let folder) = after {
      hidden = AfterDelivery.plain(Array(folder.utf8))
    } else {
      hidden = nil
    }
    self.baseFolder = baseFolder
    self.home = home
    source = selection.source
    root = try Self.absolute(selection.root, baseFolder: baseFolder, home: home)
  }

  /// - Parameter standardInput: the bytes for `list: -`; not called otherwise.
  /// - Throws: `ListingFailure` where the root or list cannot be read, or what `standardInput` throws.
  package func list(standardInput: () throws -> [UInt8]) throws -> Listing {
    let descriptor = open(Self.terminated(root), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { throw ListingFailure.root(root, errno) }
    switch source {
    case .globs(let include, let exclude):
      do {
        var walk = FolderWalk(
          root: root, include: try GlobMatcher(include), exclude: try GlobMatcher(exclude),
          hidden: hidden)
        return walk.run(root: descriptor, unless: isStopped)
      } catch {
        close(descriptor)
        throw error
      }
    case .list(let name, let nullSeparated):
      defer { close(descriptor) }
      let bytes = try name == "-" ? standardInput() : contents(of: name)
      var list = ExplicitList(root: root, descriptor: descriptor, hidden: hidden)
      return list.read(bytes, nullSeparated: nullSeparated)
    }
  }

  /// Files that are named one by one, whatever the selection says; relative to the root, or absolute and in it.
  package func named(_ paths: [[UInt8]]) throws(ListingFailure) -> Listing {
    let descriptor = open(Self.terminated(root), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { throw ListingFailure.root(root, errno) }
    defer { close(descriptor) }
    var list = ExplicitList(root: root, descriptor: descriptor, hidden: hidden)
    return list.read(paths)
  }

  private func contents(of name: String) throws(ListingFailure) -> [UInt8] {
    let path = try Self.absolute(name, baseFolder: baseFolder, home: home)
    guard let file = fopen(Self.terminated(path), "rbe") else {
      throw ListingFailure(message: "cannot read the list \(Self.text(path)): \(Self.reason(errno))")
    }
    defer { fclose(file) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = fread(&buffer, 1, buffer.count, file)
      bytes += buffer[..<count]
      if count == 0 { break }
    }
    guard ferror(file) == 0 else {
      throw ListingFailure(message: "cannot read the list \(Self.text(path)): \(Self.reason(errno))")
    }
    return bytes
  }

  private static func absolute(
    _ path: String, baseFolder: String, home: String?
  ) throws(ListingFailure) -> [UInt8] {
    var path = path
    if path == "~" || path.utf8.starts(with: "~/".utf8) {
      guard let home, !home.isEmpty else {
        throw ListingFailure(message: "'\(path)' needs a home folder, and HOME is not set")
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
  /// For people.
  static func text(_ path: [UInt8]) -> String { NameText.shown(path) }
  static func reason(_ code: Int32) -> String { String(cString: strerror(code)) }

  /// The real path, links followed; `nil` where it cannot be found.
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
