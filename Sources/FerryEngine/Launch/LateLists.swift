import FerryJournal
import FerryPlan

/// Reads the list of an upload when the upload opens, because a node that the upload depends on may have
/// written the list in this launch.
final class LateLists {
  private let plan: Plan
  private let journals: SessionJournals
  private let rounds: [Int64]
  private let listers: [Int: FileLister]
  private let notice: (String) -> Void
  /// The files of these lists that could not be listed, by node.
  private(set) var problems: [Int: ListingProblems] = [:]

  /// - Parameter rounds: by manifest.
  init(
    _ plan: Plan, journals: SessionJournals, rounds: [Int64], listers: [Int: FileLister],
    notice: @escaping (String) -> Void
  ) {
    self.plan = plan
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
    let listing: Listing
    do {
      listing = try lister.list(
        journals.all[plan.nodes[node.index].session.index], launchState.rows[node.index])
      if case .upload(let work) = plan.nodes[node.index].work, work.comparesContent {
        _ = try lister.folder()
      }
    } catch let error as JournalError {
      throw error
    } catch {
      let message = EngineFault.describe(error)
      notice("\(plan.title(of: node)): \(message)")
      let root = (error as? ListingFailure)?.root
      return .unreadable(root ?? .init(code: .init(.sourceMissing), message: "\(error)"))
    }
    guard !lister.isStopped() else { return nil }
    keep(listing.problems, of: node)
    var (items, settled) = try reconcile(listing, node, scheduler, &launchState, lister)
    settled.unlisted = listing.problems.failures
    guard !lister.isStopped() else { return nil }
    return .items(items, settled: settled)
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
    var answers = work.missing(of: files, beneath: root) ?? []
    if work.comparesContent, let root {
      var questions = try journal.contentQuestions(about: files, of: row)
      ContentReader(isStopped: lister.isStopped).answer(&questions, of: files, root: root)
      answers = questions.answers
    }
    let reconciliation = try journal.reconcile(
      files, of: row, deliver: work.deliver, contents: answers,
      round: rounds[plan.nodes[node.index].manifest.index], nextRow: &launchState.nextRows[session])
    var items = reconciliation.items
    lister.listed?.setOrigins(of: &items)
    return (items, reconciliation.settled)
  }
}
