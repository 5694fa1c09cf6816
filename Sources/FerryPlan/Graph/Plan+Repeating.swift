/// How the transfers of an upload may be repeated.
extension UploadWork {
  /// Whether a launch that does not know an upload ID would deliver the file again under another one.
  package var deliversAgainUnderNewID: Bool {
    commit == nil && hasUploadIDs && transfer.repeatability == .repeatable
      && (allocate != nil || transferProtocol.machine?.repeatsCreation == true)
  }

  /// Whether the server assigns an upload resource to a transfer that must not be sent again. The resource shows which
  /// bytes the server has.
  package var transfersOnceToResource: Bool {
    transfer.repeatability == .once && allocate == nil && transferProtocol.machine?.assignsResource == true
  }
}

extension Node {
  /// Whether a step may have to wait until an entry of its item is on disk. A commit waits too, but without occupying a
  /// connection.
  func waitsForEntry(before step: Step) -> Bool {
    if step.repeatability == .once { return true }
    guard step.kind == .transfer, case .upload(let work) = work else { return false }
    return work.deliversAgainUnderNewID
  }
}
