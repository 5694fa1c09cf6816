import FerryPlan

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// The folder of a file to which a response is stored.
///
/// Missing folders are created only when a response is stored. Otherwise, a list whose files a server does not have could
/// leave millions of empty folders.
package struct DestinationFolder: Sendable {
  /// The path of the file relative to `base`, as it is shown.
  private let name: String
  private let base: String
  private let links: Links

  /// The links in the path of the file relative to `base`.
  package enum Links: Sendable {
    /// The author of the manifest chose the path.
    case followed
    /// A list or a server chose the path. It must not lead out of `base`.
    case refused
  }

  package init(of name: String, in base: String, links: Links) {
    (self.name, self.base, self.links) = (name, base, links)
  }

  /// Whether the folder exists. Throws `destination` if its existing part cannot be used.
  package func exists() throws(TransportFailure) -> Bool {
    do throws(FolderPath.Failure) {
      try open(creating: false)
      return true
    } catch {
      if case .system(ENOENT) = error { return false }
      throw failure(error)
    }
  }

  /// Creates the missing folders. Throws `destination` if the folder cannot be used.
  func create() throws(TransportFailure) {
    do throws(FolderPath.Failure) { try open(creating: true) } catch { throw failure(error) }
  }

  private func open(creating: Bool) throws(FolderPath.Failure) {
    switch links {
    case .followed:
      let folder = Array(SplitPath(base + "/" + name).folder.utf8)
      close(try FolderPath.descriptor(of: folder, trusting: .ownEntries, creating: creating))
    case .refused:
      try FolderPath.check(Array(SplitPath(name).folder.utf8), beneath: Array(base.utf8), creating: creating)
    }
  }

  private func failure(_ error: FolderPath.Failure) -> TransportFailure {
    TransportFailure(
      .destination, "cannot use the folder of \(name): \(error.reason)", mayHaveReachedServer: false)
  }
}
