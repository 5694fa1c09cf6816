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
  /// folder.
  ///
  /// Fails with `sourceMissing` or `sourceUnreadable`, including if the path does not lead to a regular file.
  package static func current(_ path: String) throws(TransportFailure) -> Self {
    let split = SplitPath(path)
    let name = Array(split.name.utf8)
    let root: SourceRoot
    do throws(FolderPath.Failure) {
      root = try SourceRoot(Array(split.folder.utf8))
    } catch {
      throw TransportFailure(
        .sourceMissing, "\(DisplayPath.shown(path)): the folder cannot be opened: \(error.reason)",
        mayHaveReachedServer: false)
    }
    var source = Self(root: root, path: name, size: 0, modified: 0)
    var status = stat()
    try UploadFile.look(at: source, &status)
    let changed = "it was changed while ferry opened it"
    let refusal: String?
    do throws(SourceRoot.OpenFailure) {
      let target = try root.target(of: name)
      // The links that were examined need not be those through which the file was opened.
      refusal =
        target.status.identity == status.identity
        ? LinkOwner().refusal(of: target) ?? status.sizeRefusal : changed
    } catch {
      refusal = changed
    }
    if let refusal {
      throw TransportFailure(
        .sourceUnreadable, "\(DisplayPath.shown(path)): \(refusal)", mayHaveReachedServer: false)
    }
    (source.size, source.modified) = (Int64(status.st_size), status.modifiedNanoseconds)
    source.identity = status.identity
    return source
  }
}
