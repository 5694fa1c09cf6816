import FerryJournal
import FerryProcess
import FerryTransfer

/// The threads of a run, apart from the main thread.
///
/// All are created before the run takes a lock or sends anything. Otherwise, if the system refused a thread, the run
/// would wait for it and hold its sessions indefinitely. libcurl's resolver creates one more thread per name; if it
/// cannot, the request fails with `name_resolution` and is retried.
struct RunThreads {
  /// Signals, kernel notifications, and connections that keep libcurl from returning.
  let events: PollThread
  /// Determines the machine's conditions, which may wait for nmcli(1).
  let probe: SerialWorker
  let journal: JournalWriter.Threads
  let ledger: SerialWorker
  let transfer: TransferLoop.Threads
  /// Regular expressions and large JSON bodies.
  let search: SerialWorker
  /// `after` actions.
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
