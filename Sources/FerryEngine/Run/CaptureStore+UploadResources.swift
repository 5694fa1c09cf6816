import FerryJournal
import FerryManifest
import FerryPlan

/// The URLs of upload sessions and upload resources, which responses to the parts of a file state.
extension CaptureStore {
  /// The URL of the item's upload session; `nil` if no response to a part of its file contained one.
  func session(of ref: ItemRef) -> CapturedValue? { items.session(of: ref) }

  /// Records the URL of the item's upload session, as the latest response to a part of the item's file states it.
  ///
  /// - Parameter url: absolute.
  func keep(session url: String, of ref: ItemRef, _ step: Step) {
    let known = items[ref]?.allocate ?? []
    let isSecret = step.request.url.references.contains { reference in
      switch reference {
      case .allocate(let name): known.contains { $0.name == name && $0.isSecret }
      case .secret, .token: true
      case .transfer, .request, .file, .item, .run: false
      }
    }
    let session = CapturedValue(name: "session", value: url, isSecret: isSecret)
    items.keep(session: guarded([session], of: ref).first, of: ref)
  }

  /// The upload resource that the server has assigned to the item's transfer; `nil` if it has assigned none.
  ///
  /// - Parameter number: counted from 1, for files with several resources.
  func resource(of ref: ItemRef, number: Int = 1) -> CapturedValue? {
    let name = UploadResource.capture(number)
    return items[ref]?.allocate.first { $0.name == name }
  }

  /// Records that the item's file is sent to this URL in several requests. Returns `false` if another file is, or was, sent
  /// there.
  func hold(resource url: String, for ref: ItemRef, number: Int = 1) -> Bool {
    resources.hold(url, for: ref, number: number)
  }

  /// Records the URL of a partial upload that the server has created.
  ///
  /// - Parameter count: the number of the file's partial uploads. When the URLs of all partial uploads are known, they
  ///   become the file's upload resource.
  /// - Returns: whether the URLs of all partial uploads are known.
  func keep(partialUpload url: String, _ number: Int, of count: Int, _ ref: ItemRef) -> Bool {
    guard let urls = items.keep(partialUpload: url, number, of: count, ref) else { return false }
    let resources = urls.enumerated().map { index, url in
      CapturedValue(name: UploadResource.capture(index + 1), value: url, isSecret: true)
    }
    let all = CapturedValue(
      name: Tus.concatenationCapture, value: urls.joined(separator: " "), isSecret: true)
    updateCaptures(of: ref) { $0.allocate = resources + [all] }
    items.forgetPartialUploads(of: ref)
    return true
  }

  /// Records the upload resource that the server has assigned to the item's transfer. Its URL is treated as
  /// secret, because anyone who knows the URL can often write to the resource.
  ///
  /// - Parameter url: absolute, without user name and password.
  func keep(resource url: String, of ref: ItemRef) {
    updateCaptures(of: ref) {
      $0.allocate = [CapturedValue(name: Resumable.resourceCapture, value: url, isSecret: true)]
    }
  }

  /// The upload resource that the next request of an orphan releases; `nil` if that is the first resource.
  func resourceToRelease(of orphan: ItemRef) -> CapturedValue? {
    let released = items.releasedResources(of: orphan)
    return released == 0 ? nil : resource(of: orphan, number: released + 1)
  }

  /// Records that the server no longer has an upload resource of an orphan. Returns whether the orphan has another
  /// resource to release.
  func releaseNextResource(of orphan: ItemRef) -> Bool {
    let released = items.releasedResources(of: orphan) + 1
    items.keep(releasedResources: released, of: orphan)
    return resource(of: orphan, number: released + 1) != nil
  }
}
