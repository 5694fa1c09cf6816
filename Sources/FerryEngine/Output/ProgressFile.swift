import FerryJournal
import FerryPlan
import FerryReport
import Foundation

/// The file in which a run publishes its progress for `ferry status` of another process.
///
/// It is replaced by renaming, so that a reader never sees an incomplete file. It is not synced: after a power
/// failure, the run that it describes no longer exists.
enum ProgressFile {
  /// Writes the file. A failure is not reported: `ferry status` only shows less.
  static func write(_ progress: RunProgress, in state: StateDirectory) {
    guard let bytes = try? ProgressJSON.encode(progress), bytes.count <= ProgressJSON.limit,
      (try? state.createReportFolder(ofRun: progress.run)) != nil,
      let path = try? state.progress(ofRun: progress.run)
    else { return }
    _ = AtomicWrite.failure(of: bytes, replacing: path, access: .userOnly, durability: .notSynced)
  }

  /// Removes the file of a run that has ended or was killed, if the file exists.
  static func remove(ofRun run: String, in state: StateDirectory) {
    guard let path = try? state.progress(ofRun: run) else { return }
    unlink(path)
  }

  /// The published progress of a run that another process executes; `nil` if there is none.
  static func read(ofRun run: String, pid: Int32, in state: StateDirectory) -> RunProgress? {
    guard let path = try? state.progress(ofRun: run),
      let bytes = try? FileContents(path).bytesOfRegularFile(limit: ProgressJSON.limit, isOwn: true),
      let progress = try? ProgressJSON.decode(bytes), progress.run == run, progress.pid == pid
    else { return nil }
    return progress
  }
}
