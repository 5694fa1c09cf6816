import FerryJournal
import FerryProcess
import FerryTransfer

/// The threads of a run, in addition to the main thread.
///
/// All of them are created before the run takes a lock or sends a request. Otherwise, if the system refused
/// a thread, the run would wait for it indefinitely and keep its sessions locked. libcurl's resolver creates
/// one more thread per name; if that fails, the request fails with `name_resolution` and is retried.
struct RunThreads {
  /// Handles signals, kernel notifications, and connections that keep libcurl from returning.
  let events: PollThread
  /// Determines the machine's conditions, which may wait for nmcli(1).
  let probe: SerialWorker
  let journal: JournalWriter.Threads
  let ledger: SerialWorker
  let transfer: TransferLoop.Threads
  /// Searches for regular expressions, and reads large JSON and XML bodies.
  let search: SerialWorker
  /// Performs `after` actions.
  let after: SerialWorker
  /// Lists further files of uploads whose first files are already being sent, and compares the content of files that
  /// are submitted to the run (`compare: content`), which wait for these listings.
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
