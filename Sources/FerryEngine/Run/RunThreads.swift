import FerryJournal
import FerryProcess
import FerryTransfer

/// The threads of a run, apart from the main one.
///
/// All are created before it takes a lock or sends anything: a run that waited for a thread that the system refuses
/// would hold its sessions indefinitely. libcurl's resolver creates one more for each name; where it gets none, the
/// request fails with `name_resolution` and is retried.
struct RunThreads {
  /// Signals, what the kernel notifies of, and connections that keep libcurl from returning.
  let events: PollThread
  /// What the machine has: it may wait for nmcli(1).
  let probe: SerialWorker
  let journal: JournalWriter.Threads
  let ledger: SerialWorker
  let transfer: TransferLoop.Threads
  /// Regular expressions.
  let search: SerialWorker
  /// `after`.
  let after: SerialWorker
  /// `compare: content` of files that are submitted to the run.
  let compare: SerialWorker

  init() throws(EngineFault) {
    do throws(ThreadUnavailable) {
      events = try PollThread("ferry-events")
      probe = try SerialWorker("ferry-probe")
      journal = try JournalWriter.Threads()
      ledger = try SerialWorker("ferry-ledger")
      transfer = try TransferLoop.Threads(watch: events)
      search = try SerialWorker("ferry-search")
      after = try SerialWorker("ferry-after")
      compare = try SerialWorker("ferry-compare")
    } catch {
      throw EngineFault(
        .fault,
        "\(error); a run creates \(Self.count) threads\nhelp: \(ThreadUnavailable.remedy); "
          + "nothing was done")
    }
  }

  private static let count = 10
}
