import FerryPlan
import FerryReport

extension PlannedRun {
  /// The maximum size of a plan or simulation in JSON, in bytes. The limit does not apply to a `SavedPlan`, which is
  /// read line by line.
  private static let largest = 256 << 20

  /// Reads a plan that `ferry plan --out` wrote, or the JSON of `ferry plan` or `ferry plan --simulate`.
  ///
  /// - Throws: `UsageError` if the file is none of these.
  package static func read(path: String) throws(UsageError) -> PlannedRun {
    let name = DisplayPath.shown(path)
    // A file that is not a `SavedPlan` may be one of the other documents.
    if let saved = try? SavedPlan(path: path) {
      if let expected = saved.expected { return expected }
      throw UsageError(
        "\(name): this plan was written by an earlier version of ferry and lacks the expected numbers\n"
          + "help: write another plan with: ferry plan MANIFEST --out FILE")
    }
    let bytes: [UInt8]
    do throws(FileContents.Failure) {
      bytes = try FileContents(path).bytesOfRegularFile(limit: largest)
    } catch {
      throw UsageError("\(name): cannot be read: \(error.reason)")
    }
    switch document(bytes) {
    case .planned(let planned): return planned
    case .severalRounds:
      throw UsageError(
        "\(name): a simulation of several rounds cannot be compared with one run\n"
          + "help: simulate one round, without --for")
    case .other:
      throw UsageError(
        "\(name): this is not a ferry plan\n"
          + "help: write it with 'ferry plan MANIFEST --out FILE' or 'ferry plan MANIFEST --simulate --format json'"
      )
    }
  }

  /// Adds the comparison with this plan to a report.
  ///
  /// - Throws: `UsageError` if the run did not run the plan's manifest.
  package func compared(with source: ReportSource) throws(UsageError) -> ReportSource {
    var record = source.record
    let names = (record.run.manifests ?? []).map(\.name)
    guard names.contains(manifest) || record.run.manifest == manifest else {
      throw UsageError(
        "the plan belongs to manifest '\(DisplayPath.line(manifest))', but run \(record.run.id) belongs to "
          + "\(names.map { "'\(DisplayPath.line($0))'" }.joined(separator: ", "))\n"
          + "help: 'ferry runs' lists the runs with their manifests")
    }
    record.plan = PlanComparison(self, record)
    return source.with(record)
  }
}
