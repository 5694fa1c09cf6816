import FerryJournal
import FerryPlan
import FerryTransfer

/// The validators of each fetch, and the conditions of the requests sent with them (RFC 9110, section 13).
struct FetchCache {
  /// The validators of the document in `save_to`, by node.
  private var records: [Int: FetchRecord]
  /// By attempt ID.
  private var conditions: [UInt64: FetchCondition] = [:]
  /// The file that a conditional request is about, by attempt ID.
  private var files: [UInt64: FileVersion] = [:]

  /// - Parameter records: by node, as journaled.
  init(_ records: [Int: FetchRecord]) { self.records = records }

  subscript(node: NodeID) -> FetchRecord? { records[node.index] }

  /// Makes a request conditional on the node's validators if `save_to` is still the file that they describe.
  ///
  /// The file may be gone, or an earlier run may have been killed after it replaced the file and before it recorded
  /// that.
  ///
  /// - Parameter file: the current `save_to`; `nil` if there is none.
  mutating func addCondition(to request: inout TransferRequest, of attempt: Attempt, file: FileVersion?) {
    var record = attempt.isUnconditional ? nil : records[attempt.ref.node.index]
    if file == nil || record?.file.map({ $0 != file }) == true { record = nil }
    let condition = FetchCondition(request, record)
    if let header = condition.header { request.headers.append(header) }
    conditions[attempt.id] = condition
    files[attempt.id] = file
  }

  /// Removes and returns the condition of a completed attempt.
  mutating func removeCondition(of attempt: UInt64) -> FetchCondition? {
    conditions.removeValue(forKey: attempt)
  }

  /// Processes the response to a fetch. The validators change only together with the file that they describe.
  ///
  /// - Returns: why the response does not match what the manifest expects; `nil` if it does.
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
      // The body was checked before it replaced the file, and is no longer available here.
      guard response.refusal == nil else { return response.refusal }
      records[node] = FetchRecord(
        etag: Validator.entityTag(of: response), lastModified: Validator.lastModified(of: response, at: now),
        fetchedAt: now, file: response.storedFile)
    case .notModified:
      // `expect` was checked when the current document was received.
      records[node] = unchanged
      // Older versions of ferry did not record the file.
      records[node]?.file = old?.file ?? file
    case .nothing:
      if let mismatch = reading?.mismatch { return mismatch.message }
      records[node] = unchanged
    case .unexpected: break
    }
    return nil
  }
}
