import ArgumentParser
import FerryEngine
import FerryManifest
import FerryPlan
import Foundation

/// A manifest to be read, and the values of its variables.
struct ManifestSource {
  var path: String
  var variables: [String: String]
  var variableFiles: [SourceText] = []

  func reading() throws(UsageError) -> Job.Reading {
    try Job.read(
      path: path, variables: variables, variableFiles: variableFiles,
      environment: ProcessInfo.processInfo.environment)
  }

  /// Reads the manifest and tells every diagnostic; with an error among them the process ends with 3.
  func job() throws -> Job { try told().job }

  /// Why there is no job; it has been told.
  struct Failure: Error {
    var code: FerryPlan.ExitCode
  }

  /// The same, for one of several: the process goes on.
  func readable() throws(Failure) -> Job {
    do {
      return try job()
    } catch let error as UsageError {
      Output.complain("ferry: \(error)")
      throw Failure(code: .usage)
    } catch is ArgumentParser.ExitCode {
      throw Failure(code: .invalidManifest)
    } catch {
      Output.complain("ferry: \(EngineFault.describe(error))")
      throw Failure(code: .fault)
    }
  }

  /// The same, with what reading gave besides.
  func told() throws -> (job: Job, reading: Job.Reading) {
    let reading = try reading()
    if !reading.diagnostics.isEmpty {
      let formatter = DiagnosticFormatter(sources: reading.sources, isColored: Output.isComplaintColored)
      Output.complain(formatter.text(reading.diagnostics))
    }
    guard let job = reading.job else {
      throw ArgumentParser.ExitCode(FerryPlan.ExitCode.invalidManifest.rawValue)
    }
    return (job, reading)
  }
}
