import FerryJournal
import FerryPlan
import Foundation

/// `on_events`: a session's command, started when a batch of it is through.
struct EventCommand {
  let jobs: Jobs
  let environment: [String: String]

  /// Starts the commands that are owed, each at least once: one is taken for started when its process is there.
  /// Nobody waits for it.
  func startOwed(
    _ journals: SessionJournals, report: String, _ notice: (String) -> Void
  ) throws {
    for session in try journals.owedEvents {
      let name = jobs.plan.sessions[session.index].name
      let command = jobs.plan.sessions[session.index].onEvents
      if !command.isEmpty, let folder = jobs.job(of: session)?.folder {
        do {
          try start(
            command, in: folder, session: jobs.plan.sessions[session.index].identifier, report: report)
        } catch {
          notice("on_events of the session \(name): \(command[0]) cannot be started: \(error); it stays owed")
          continue
        }
      }
      try journals.all[session.index]?.clearEvents()
    }
  }

  /// - Parameter folder: the manifest's.
  private func start(_ command: [String], in folder: String, session: String, report: String) throws {
    let process = Process()
    process.currentDirectoryURL = URL(fileURLWithPath: folder, isDirectory: true)
    let program = try resolved(command[0], in: folder)
    process.executableURL = URL(fileURLWithPath: program)
    process.arguments = Array(command.dropFirst())
    var environment = environment
    // The state folder's path is relative to another folder than the command's, where it is relative.
    environment["FERRY_REPORT"] = AbsolutePath.text(of: report)
    environment["FERRY_SESSION"] = session
    process.environment = environment
    // ferry's own standard output is the report's.
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = FileHandle.standardError
    try process.run()
  }

  /// A name with a slash is relative to the manifest's folder, any other is looked for in PATH.
  private func resolved(_ name: String, in folder: String) throws(UsageError) -> String {
    if name.utf8.first == UInt8(ascii: "/") { return name }
    if name.utf8.contains(UInt8(ascii: "/")) { return folder + "/" + name }
    for place in (environment["PATH"] ?? "/usr/bin:/bin").utf8.split(separator: UInt8(ascii: ":")) {
      let path = "\(Substring(place))/\(name)"
      if FileManager.default.isExecutableFile(atPath: path) { return path }
    }
    throw UsageError("it is not in PATH")
  }
}
