import Foundation

/// Writes reports to the state folder.
enum ReportWriter {
  /// Writes ferry's own copy of the report, readable only by the user. It is written next to the
  /// destination, synced and renamed, so that an incomplete report is never visible.
  static func write(_ bytes: [UInt8], to path: String) throws(EngineFault) {
    guard let code = AtomicWrite.failure(of: bytes, replacing: path, access: .userOnly) else { return }
    throw EngineFault(
      .fault,
      "\(path): the report cannot be written: \(String(cString: strerror(code)))\n"
        + "help: free some space, or make the folder writable, then run ferry again; all recorded data is kept"
    )
  }
}
