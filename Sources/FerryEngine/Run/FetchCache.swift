import FerryJournal
import FerryPlan
import FerryTransfer

/// The validators of each fetch, and the conditions of the requests that were sent with them (RFC 9110, section 13).
struct FetchCache {
  /// By node: the validators of the document that `save_to` has.
  private var records: [Int: FetchRecord]
  /// By attempt.
  private var conditions: [UInt64: FetchCondition] = [:]
  /// By attempt: the file that a conditional request is about.
  private var files: [UInt64: FileVersion] = [:]

  /// - Parameter records: by node, as journaled.
  init(_ records: [Int: FetchRecord]) { self.records = records }

  subscript(node: NodeID) -> FetchRecord? { records[node.index] }

  /// Makes a request conditional on the node's validators, if `save_to` is still the file that they are of: it may be
  /// gone, or a run may have been killed after it replaced the file and before it recorded that.
  ///
  /// - Parameter file: what `save_to` is now; `nil` if there is none.
  mutating func addCondition(to request: inout TransferRequest, of attempt: Attempt, file: FileVersion?) {
    var record = attempt.isUnconditional ? nil : records[attempt.ref.node.index]
    if file == nil || record?.file.map({ $0 != file }) == true { record = nil }
    let condition = FetchCondition(request, record)
    if let header = condition.header { request.headers.append(header) }
    conditions[attempt.id] = condition
    files[attempt.id] = file
  }

  /// The condition of an attempt that has ended.
  mutating func removeCondition(of attempt: UInt64) -> FetchCondition? {
    conditions.removeValue(forKey: attempt)
  }

  /// Takes in the response to a fetch. The validators change only with the file that they are of.
  ///
  /// - Returns: why the response is not the one that the manifest expects.
  mutating func take(
    _ response: TransferResponse, of attempt: Attempt, _ step: Step, _ reading: ResponseReading?,
    at now: Instant
  ) -> String? {
    let node = attempt.ref.node.index
    let old = records[node]
    let file = files.removeValue(forKey: attempt.id)
    let unchanged = FetchRecord(
      etag: old?.etag, lastModified: old?.lastModified, fetchedAt: now, file: old?.file)
    switch step.content(of: response.status) {
    case .document:
      // Its body was checked before it took the file's place, and is not here any more.
      guard response.refusal == nil else { return response.refusal }
      records[node] = FetchRecord(
        etag: Validator.entityTag(of: response), lastModified: Validator.lastModified(of: response, at: now),
        fetchedAt: now, file: response.storedFile)
    case .notModified:
      // `expect` was checked on the response whose document is still the newest.
      records[node] = unchanged
      // An older ferry did not record it.
      records[node]?.file = old?.file ?? file
    case .nothing:
      if let mismatch = reading?.mismatch { return mismatch.message }
      records[node] = unchanged
    case .unexpected: break
    }
    return nil
  }
}
