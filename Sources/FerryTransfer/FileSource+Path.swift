import FerryPlan

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

extension TransferRequest.FileSource {
  /// The file at an absolute path, as it is now. A link in the path of its folder is followed according to
  /// the rules for `root` of an upload. A link in place of the file may lead only to a file in the same
  /// folder. In a world-writable folder, entries of other users are refused, as for every file that a manifest names.
  ///
  /// Fails with `sourceMissing` or `sourceUnreadable`, including if the path does not lead to a regular file.
  package static func current(_ path: String) throws(TransportFailure) -> Self {
    func failure(_ code: TransportFailure.Code, _ reason: String) -> TransportFailure {
      TransportFailure(code, "\(DisplayPath.shown(path)): \(reason)", mayHaveReachedServer: false)
    }
    let split = SplitPath(path)
    let name = Array(split.name.utf8)
    let root: SourceRoot
    var checked = stat()
    do throws(FolderPath.Failure) {
      let file = try FolderPath.file(Array(path.utf8), for: .looking)
      defer { close(file) }
      guard fstat(file, &checked) == 0 else { throw .system(errno) }
      root = try SourceRoot(Array(split.folder.utf8))
    } catch {
      switch error {
      case .system(let code): throw failure(UploadFile.code(code), error.reason)
      case .foreign, .severalNames: throw failure(.sourceUnreadable, error.reason)
      }
    }
    let target: SourceRoot.Target
    do throws(SourceRoot.OpenFailure) {
      target = try root.target(of: name)
    } catch {
      switch error {
      case .system(let code): throw failure(UploadFile.code(code), SystemText.error(code))
      case .leavesRoot:
        throw failure(.sourceUnreadable, "a symbolic link that leads to another folder is not followed")
      case .tooManySteps: throw failure(.sourceUnreadable, LookupBudget.refusal)
      }
    }
    let status = target.status
    // The owners were checked for this file. Opening it compares its identity again.
    guard status.st_dev == checked.st_dev, status.st_ino == checked.st_ino else {
      throw failure(.sourceChanged, "it was replaced by another file while ferry opened it; run ferry again")
    }
    guard status.st_mode & S_IFMT == S_IFREG else { throw failure(.sourceUnreadable, "not a regular file") }
    if let refusal = LinkOwner().refusal(of: target) ?? status.sizeRefusal {
      throw failure(.sourceUnreadable, refusal)
    }
    return Self(
      root: root, path: name, size: Int64(status.st_size), modified: status.modifiedNanoseconds,
      identity: status.identity)
  }
}
