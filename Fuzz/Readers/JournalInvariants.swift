import FerryManifest
import FerryPlan
import FerryReport
import FerrySimulation
import Foundation

@testable import FerryEngine
@testable import FerryJournal

/// Invariants of reading a state folder whose databases another program has changed or damaged.
///
/// Every command returns a result or an error, and exports are valid JSON.
enum JournalInvariants {
  static func violations(by input: [UInt8]) -> [String] {
    do {
      let folder = try JournalFolder.prepared.get()
      try folder.restore(with: input)
      return looks(folder) + changes(folder)
    } catch {
      return ["the state folder cannot be prepared: \(error)"]
    }
  }

  /// Runs the commands that only read.
  private static func looks(_ folder: JournalFolder) -> [String] {
    var violations: [String] = []
    let state = folder.state
    attempt { _ = try JournalAudit(state: state, environment: [:]).check(sessions: []) }
    attempt {
      let export = try JournalExport(state: state, environment: [:]) { line in
        if (try? JSONParser.parse(Array(line.utf8))) == nil {
          violations.append("a line of the export is not JSON: \(line)")
        }
      }
      _ = try export.export(sessions: [])
    }
    attempt {
      let status = try SessionStatus(
        state: state, network: .wifi, power: .external, launch: .background, environment: [:])
      let document = try status.look(sessions: [], job: nil)
      _ = try JSONEncoder().encode(document)
      _ = StatusText.text(document, in: .utc)
    }
    attempt {
      let orphans = try SessionOrphans(state: state, environment: [:], version: "0")
      _ = try JSONEncoder().encode(try orphans.look(sessions: []))
    }
    guard let job = folder.job else { return violations + ["the manifest cannot be read"] }
    let preview = Result {
      try Preview(job, state: state, network: .wifi, power: .external, at: JournalFolder.now)
    }
    attempt { _ = try JSONEncoder().encode(try preview.get().look().document) }
    attempt { _ = try JSONEncoder().encode(try preview.get().next()) }
    attempt {
      var options = SimulationOptions(zone: .utc)
      options.bandwidth = 1_000_000
      options.length = .seconds(86_400)
      _ = try JSONEncoder().encode(try preview.get().simulationStart().simulate(options))
    }
    for item in ["photos/2026/1000001.jpg", "u"] {
      attempt {
        let explanation = try ItemExplanation(
          job, state: state, network: .wifi, power: .external, launch: .background, at: JournalFolder.now,
          environment: [:])
        _ = try JSONEncoder().encode(try explanation.explain(item))
      }
    }
    return violations
  }

  /// Runs the commands that write, in increasing order of how much they remove.
  private static func changes(_ folder: JournalFolder) -> [String] {
    let state = folder.state
    attempt {
      _ = try Resolution(state: state, environment: [:], version: "0").resolve(
        nil, as: .retry, in: .session(JournalFolder.session, manifest: nil))
    }
    attempt {
      _ = try JournalPruning(state: state, environment: [:], version: "0").prune(
        runs: .seconds(60), delivered: .seconds(60), failed: .seconds(60), sessions: [],
        patience: LockPatience())
    }
    attempt {
      _ = try Cancellation(state: state, environment: [:], version: "0").cancel(
        [.session(JournalFolder.session)], .atOnce)
    }
    attempt {
      _ = try SessionReset(state: state, environment: [:], version: "0").reset(
        sessions: [JournalFolder.session], dropsUnanswered: true)
    }
    return []
  }

  /// Runs a command. An error is a correct result for damaged data.
  private static func attempt(_ body: () throws -> Void) {
    do { try body() } catch { _ = "\(error)" }
  }
}
