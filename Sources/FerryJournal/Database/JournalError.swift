import FerryPlan
import FerryProcess
import Foundation

/// The reason why durable state could not be read or written. The run stops.
package struct JournalError: Error, Hashable, Sendable, CustomStringConvertible {
  /// Stable codes, which appear in reports. The accompanying text may change.
  package enum Code: String, Hashable, Sendable, CaseIterable {
    /// The state folder cannot be determined.
    case folderUnknown = "state_folder_unknown"
    /// A session's or run's name cannot be used as a file name.
    case nameRefused = "state_name_refused"
    /// A newer version of ferry wrote the file.
    case newerSchema = "journal_newer_schema"
    /// The file is not a database, or belongs to another program.
    case foreign = "journal_foreign_file"
    /// The journal cannot be read.
    case damaged = "journal_damaged"
    /// The journal lacks transactions that were recorded.
    case commitsLost = "journal_commits_lost"
    /// A session's journal no longer exists, or is empty.
    case missing = "journal_missing"
    /// The file or its folder cannot be written.
    case readOnly = "journal_read_only"
    /// The file or its folder cannot be read.
    case unreadable = "journal_unreadable"
    /// Another user owns the file.
    case wrongOwner = "journal_wrong_owner"
    /// Another user can change or replace the state folder.
    case unsafeFolder = "state_folder_unsafe"
    /// The state folder of a part is at the path of another part.
    case misplaced = "state_part_misplaced"
    /// The disk is full, a quota is exceeded, or the process's file size limit is reached.
    case diskFull = "journal_disk_full"
    /// Another process wrote to the journal while this process held the session's lock.
    case otherWriter = "journal_other_writer"
    /// Another process has taken over the journal of a shard, or this process could not renew its lease in time.
    case leaseLost = "journal_lease_lost"
    /// Another process held the file longer than ferry's wait limit.
    case busy = "journal_busy"
    /// The file system does not support locks or shared memory.
    case locksUnsupported = "journal_locks_unsupported"
    /// Reading or writing failed below the database.
    case io = "journal_io"
    /// A write refers to a row that does not exist: a bug in ferry.
    case inconsistent = "journal_inconsistent"
    /// The writer is already closed: a bug in ferry.
    case closed = "journal_closed"
    /// The system refused to create the thread that waits for a lock.
    case noThread = "thread_unavailable"
  }

  package var code: Code
  /// The affected file or folder.
  package var file: String
  /// The system's or the database's message.
  package var cause: String

  package init(_ code: Code, file: String, cause: String) {
    self.code = code
    self.file = file
    self.cause = cause
  }

  /// A remedy for the user.
  package var remedy: String {
    switch code {
    case .folderUnknown:
      "pass --state DIR, or set FERRY_STATE, XDG_STATE_HOME or HOME (cron may not set them)"
    case .nameRefused: "give the session an identifier of 1 to 200 letters, digits, '.', '-' or '_'"
    case .newerSchema: "use the version of ferry that wrote it, or a newer one; the file was not changed"
    case .foreign:
      isJournal
        ? "restore a copy of the journal, with its -wal file if there is one; this file was not changed. \(withoutIt)"
        : "move the file away, or choose a different folder with --state; the file was not changed"
    case .damaged:
      "the file was not changed. \(withoutIt). To see the damage, the losses and the recovery commands: \(check)"
    case .commitsLost, .missing:
      "nothing was changed, and nothing was sent. Restore the files that were removed or replaced, and the journal together with its -wal file; see \(check). "
        + "If that is not possible, check the deliveries on the server, and accept the loss: \(acceptance); "
        + (code == .missing
          ? "the next run then resends all files that the session had delivered"
          : "the next run then resends all files whose delivery those transactions had recorded")
    case .otherWriter:
      "all sent requests are recorded. Wait until the other process has ended (ferry status shows it), then run ferry again; never remove "
        + "the .lock files in the state folder: the kernel releases the locks of a process that has ended"
    case .leaseLost:
      "all sent requests are recorded, or will be resolved by the process that owns the shard now. If the process was not "
        + "stopped, and the machine was not suspended, specify a longer --lease"
    case .readOnly:
      "make the folder and its files writable for this user, or choose a different state folder with --state"
    case .unreadable:
      "make the folder and its files readable for this user, or choose a different state folder with --state"
    case .wrongOwner:
      "run ferry as the user who owns the file, change the owner with chown, or choose another state folder with --state"
    case .unsafeFolder:
      "make this user the owner of the folder and the only user who can write to it (chown, chmod go-w; chmod o-w or +t for a "
        + "folder above the state folder), or choose another state folder with --state; nothing in the folder was used"
    case .misplaced:
      "nothing was changed, and nothing was sent. Move each folder back to the path that its file 'shard' contains; if a folder "
        + "was copied, remove the copy. If 'shards' or a folder in it is a link, specify the path through the link with --state"
    case .diskFull:
      "free some space, or raise the quota or limit, then run ferry again; all recorded data is kept"
    case .busy:
      "wait for the other process, or find it with: fuser \(ShellWord.quoted(AbsolutePath.text(of: file)))"
    case .locksUnsupported: "choose a folder on a local file system with --state"
    case .io: "check the disk and the system log, then run ferry again; all recorded data is kept"
    case .noThread: ThreadUnavailable.remedy
    case .inconsistent, .closed: "run ferry again; if the error recurs, report it as a bug in ferry"
    }
  }

  /// The error of a process that no longer owns the journal of a shard.
  static func leaseLost(_ path: String) -> JournalError {
    JournalError(
      .leaseLost, file: path,
      cause:
        "another process has taken over the shard, or the lease was not renewed in time; nothing more is sent"
    )
  }

  /// The error of a state folder that was exchanged with that of another part, or is a copy of it.
  static func misplaced(
    _ folder: String, contains stored: String, instead part: String
  ) -> JournalError {
    JournalError(
      .misplaced, file: folder,
      cause:
        "it contains the state of \(DisplayPath.shown(stored)), and would be used as that of \(DisplayPath.shown(part))"
    )
  }

  /// Whether the file is at the path of a journal. A file there that is not recognized as ferry's may be a
  /// damaged journal.
  private var isJournal: Bool {
    let path = SplitPath(file)
    return path.name == "ferry.db"
      || path.name.hasSuffix(".db") && SplitPath(path.folder).name == "sessions"
  }

  private var check: String {
    guard isJournal else { return "ferry journal check" }
    return StateDirectory.command(["journal", "check"], inFolder: folder)
  }

  /// The command that accepts the loss.
  private var acceptance: String {
    let name = String(SplitPath(file).name.dropLast(".db".utf8.count))
    return StateDirectory.command(
      ["journal", "accept-loss", name.removingPercentEncoding ?? name], inFolder: folder)
  }

  /// The state folder that contains the journal.
  private var folder: String {
    let path = SplitPath(file)
    return path.name == "ferry.db" ? path.folder : SplitPath(path.folder).folder
  }

  /// The consequence of moving the damaged file away, for the remedy.
  private var withoutIt: String {
    SplitPath(file).name == "ferry.db"
      ? "If you move it away, ferry continues from the sessions' journals, but without the runs, open rounds and budget usage that the file recorded"
      : "If you have no copy, move the journal and its -wal file away, and accept the loss: \(acceptance); ferry then creates a new journal and resends all files that the session had delivered"
  }

  /// The problem, without the file and the remedy.
  var headline: String {
    switch code {
    case .folderUnknown: "there is no state folder"
    case .nameRefused: "this name cannot be used for a file in the state folder"
    case .newerSchema: "this file was written by a newer version of ferry"
    case .foreign: "this is not a ferry file"
    case .damaged: "the journal is damaged"
    case .commitsLost: "the journal has lost transactions"
    case .otherWriter: "another process is using the journal"
    case .leaseLost: "this process no longer owns the journal"
    case .missing: "the journal is missing"
    case .readOnly: "the journal cannot be written"
    case .unreadable: "the journal cannot be read"
    case .wrongOwner: "the journal belongs to another user"
    case .unsafeFolder: "other users can change the state folder"
    case .misplaced: "this state folder is at the path of another one"
    case .diskFull: "there is no space for the journal"
    case .busy: "another process keeps the journal busy"
    case .locksUnsupported: "the file system does not support journals"
    case .io: "reading or writing the journal failed"
    case .inconsistent: "the journal is inconsistent"
    case .noThread: "ferry cannot wait for the journal"
    case .closed: "the journal has already been closed"
    }
  }

  package var description: String { "\(file): \(headline): \(cause)\nhelp: \(remedy)" }
}
