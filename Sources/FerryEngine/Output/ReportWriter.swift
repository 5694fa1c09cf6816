import FerryReport
import Foundation

/// Writes reports.
enum ReportWriter {
  /// Writes ferry's own copy of the report, readable only by the user. It is written next to the
  /// destination, synced and renamed, so that an incomplete report is never visible.
  static func write(_ source: ReportSource, to path: String) throws {
    let code = try AtomicWrite.failure(replacing: path, access: .userOnly) { descriptor in
      try failure(of: source, ReportJSON(), to: descriptor)
    }
    guard let code else { return }
    throw EngineFault(
      .fault,
      "\(path): the report cannot be written: \(String(cString: strerror(code)))\n"
        + "help: free some space, or make the folder writable, then run ferry again; all recorded data is kept"
    )
  }

  /// Renders a report to a descriptor.
  ///
  /// - Returns: the error number if the descriptor cannot be written to.
  static func failure(
    of source: ReportSource, _ renderer: any ReportRenderer, to descriptor: Int32, patience: Duration? = nil
  ) throws -> Int32? {
    let sink = DescriptorSink(descriptor, patience: patience)
    do {
      try renderer.render(source, to: sink)
      try sink.flush()
    } catch let failure as DescriptorSink.Failure {
      return failure.code
    }
    return nil
  }
}
