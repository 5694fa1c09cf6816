import FerryJournal
import FerryPlan
import FerryProcess

/// Lists files during the launch: reads the list of an upload when the upload opens, because a node that the upload
/// depends on may have written the list in this launch, and continues listings that arrive in portions.
final class LateLists {
  private let plan: Plan
  private let journals: SessionJournals
  private let rounds: [Int64]
  private let listers: [Int: FileLister]
  private let parts: DownloadParts
  private let notice: (String) -> Void
  /// The paths in these lists that could not be listed, by node.
  private(set) var problems: [Int: ListingProblems] = [:]
  private let thread: SerialWorker
  private let messages: Mailbox<RunMessage>
  private let onUnmatched: (NodeID, [Int], ListingProblems) -> Void

  /// - Parameters:
  ///   - rounds: by manifest.
  ///   - thread: continues the listings that arrive in portions.
  ///   - onUnmatched: called with the globs that matched no file in such a listing, as positions in the list.
  init(
    _ jobs: Jobs, journals: SessionJournals, rounds: [Int64], listers: [Int: FileLister],
    on thread: SerialWorker, messages: Mailbox<RunMessage>, notice: @escaping (String) -> Void,
    onUnmatched: @escaping (NodeID, [Int], ListingProblems) -> Void
  ) {
    self.thread = thread
    self.messages = messages
    self.onUnmatched = onUnmatched
    plan = jobs.plan
    parts = DownloadParts(jobs: jobs, journals: journals)
    self.journals = journals
    self.rounds = rounds
    self.listers = listers
    self.notice = notice
  }

  /// Reads an upload's list, and reconciles its files with the journal. Returns `nil` if the run is stopped before both
  /// are complete.
  func read(
    _ node: NodeID, _ scheduler: Scheduler, _ launchState: inout LaunchState
  ) throws(JournalError) -> UploadList? {
    guard let lister = listers[node.index] else { return nil }
    if let listing = launchState.partialListings[node.index] {
      return further(node, listing, &launchState)
    }
    var listing: Listing
    do {
      listing = try lister.list(
        journals.all[plan.nodes[node.index].session.index], launchState.rows[node.index])
      if case .upload(let work) = plan.nodes[node.index].work, work.comparesContent {
        _ = try lister.folder()
      }
    } catch let error as JournalError {
      throw error
    } catch {
      var failure = error as? ListingFailure
      if failure?.remedy == nil { failure?.remedy = launchState.unreadableLists[node.index]?.remedy }
      let message = EngineFault.describe(failure ?? error)
      notice("\(plan.title(of: node)): \(message)")
      let root = (error as? ListingFailure)?.root
      return .unreadable(root ?? .init(code: .init(.sourceMissing), message: "\(error)"))
    }
    guard !lister.isStopped() else { return nil }
    listing.files = try withoutUnsent(listing.files, of: node, scheduler, launchState)
    keep(listing.problems, of: node)
    var (items, settled) = try reconcile(listing, node, scheduler, &launchState, lister)
    settled.unlisted = listing.problems.failures
    guard !lister.isStopped() else { return nil }
    try parts.removeUnlisted(of: node, row: launchState.rows[node.index], lister)
    return .items(items, settled: settled)
  }

  /// Returns the files without those that an upload must not remove yet, because another upload has not sent them. The next
  /// run lists them again.
  private func withoutUnsent(
    _ files: FileColumns, of node: NodeID, _ scheduler: Scheduler, _ launchState: LaunchState
  ) throws(JournalError) -> FileColumns {
    guard plan.nodes[node.index].after != .keep else { return files }
    var remaining = files
    for other in plan.neededUploads(of: node) where remaining.count > 0 {
      guard let lister = listers[other.index], case .upload(let work) = plan.nodes[other.index].work else {
        continue
      }
      let unsent = UnsentElsewhere(
        remaining, other: other, work, lister, row: launchState.rows[other.index],
        journal: journals.all[plan.nodes[other.index].session.index], scheduler)
      let before = remaining.count
      remaining = try unsent.sent(remaining, scheduler)
      guard remaining.count < before else { continue }
      notice(
        "\(plan.title(of: node)): \(Count.text(before - remaining.count, "file")) will be sent by the next run, because "
          + "\(plan.title(of: other)) has not sent this version of \(before - remaining.count == 1 ? "it" : "them") yet"
      )
    }
    return remaining
  }

  /// Returns the next portion of a listing if it has been read. Otherwise, has it read: a message follows.
  private func further(
    _ node: NodeID, _ listing: PartialListing, _ launchState: inout LaunchState
  ) -> UploadList? {
    guard let portion = listing.take() else {
      thread.submit { [messages] in
        listing.read()
        messages.post(.filesListed(node))
      }
      return nil
    }
    switch portion {
    case .files(let files): return .portion(new(files, of: node, &launchState).items)
    case .last(let last):
      launchState.partialListings[node.index] = nil
      keep(last.problems, of: node)
      if !last.unmatched.isEmpty { onUnmatched(node, last.unmatched, last.problems) }
      // Submitted files have waited for the end of the listing.
      messages.post(.inbox)
      var (items, settled) = new(last.files, of: node, &launchState)
      settled.unlisted = last.problems.failures
      return .items(items, settled: settled)
    }
  }

  /// The items of files of an upload that the journal does not know.
  private func new(
    _ files: FileColumns, of node: NodeID, _ launchState: inout LaunchState
  ) -> (items: ItemTable, settled: Reconciliation.Settled) {
    let session = plan.nodes[node.index].session.index
    guard case .upload(let work) = plan.nodes[node.index].work else { return (ItemTable(), .init()) }
    var reconciliation = Reconciliation(
      listing: files, deliver: work.deliver, round: rounds[plan.nodes[node.index].manifest.index],
      nextRow: launchState.nextRows[session])
    reconciliation.finish()
    launchState.nextRows[session] = reconciliation.nextRow
    return (reconciliation.items, reconciliation.settled)
  }

  private func keep(_ problems: ListingProblems, of node: NodeID) {
    guard !problems.isEmpty else { return }
    self.problems[node.index] = problems
    let title = plan.title(of: node)
    for problem in problems { notice("\(title): \(problem)") }
    if let omission = problems.omission { notice("\(title): \(omission)") }
  }

  private func reconcile(
    _ listing: Listing, _ node: NodeID, _ scheduler: Scheduler, _ launchState: inout LaunchState,
    _ lister: FileLister
  ) throws(JournalError) -> (ItemTable, Reconciliation.Settled) {
    let session = plan.nodes[node.index].session.index
    guard case .upload(let work) = plan.nodes[node.index].work, let row = launchState.rows[node.index],
      let journal = journals.all[session]
    else { return (ItemTable(), .init()) }
    let files = scheduler.unknown(listing.files, to: node)
    // A root that cannot be opened has been reported.
    let root = work.download != nil || work.comparesContent ? try? lister.folder() : nil
    var answers = work.missing(of: files, beneath: root, StopCheck(lister.isStopped)) ?? []
    if work.comparesContent, let root {
      var questions = try journal.contentQuestions(about: files, of: row)
      ContentReader(isStopped: lister.isStopped).answer(&questions, of: files, root: root)
      answers = questions.answers
    }
    let reconciliation = try journal.reconcile(
      files, of: row, deliver: work.deliver, contents: answers,
      round: rounds[plan.nodes[node.index].manifest.index], at: scheduler.now,
      nextRow: &launchState.nextRows[session])
    var items = reconciliation.items
    lister.listed?.setOrigins(of: &items)
    return (items, reconciliation.settled)
  }
}
