import ArgumentParser
import FerryEngine
import FerryManifest
import FerryPlan
import Foundation

/// A manifest to read, and the values of its variables.
struct ManifestSource {
  var path: String
  var variables: [String: String]
  var variableFiles: [SourceText] = []

  func reading() throws(UsageError) -> Job.Reading {
    try Job.read(
      path: path, variables: variables, variableFiles: variableFiles,
      environment: ProcessInfo.processInfo.environment)
  }

  /// Reads the manifest and prints its diagnostics. Throws exit code 3 if one of the diagnostics is an error.
  func job() throws -> Job { try told().job }

  /// The error if no job could be created. The reason has already been printed.
  struct Failure: Error {
    var code: FerryPlan.ExitCode
  }

  /// Like `job()`, for one of several manifests: after a failure, the caller continues with the others.
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

  /// Like `job()`, but also returns the reading from which the job was created.
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
