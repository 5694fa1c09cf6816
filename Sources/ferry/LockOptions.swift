import ArgumentParser
import FerryEngine
import FerryPlan
import Foundation

/// The option of commands that lock sessions.
struct LockOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "If another process is using a session, wait for the session, at most this long; then exit with 6.",
      valueName: "duration"),
    transform: { try Duration(written: $0) })
  var waitLock: Duration?

  func patience(isQuiet: Bool = false) -> LockPatience {
    let limit = waitLock ?? .zero
    return LockPatience(limit: limit) { session in
      guard !isQuiet else { return }
      Output.complain("ferry: \(Self.text(session)); waiting for the session")
    }
  }

  /// The process that is using the session, and the time at which it began to use it.
  static func text(_ session: SessionInUse) -> String {
    let host = session.host.map { " on \(DisplayPath.line($0))" } ?? ""
    let holder = (session.pid.map { "process \($0)" } ?? "another process") + host
    let zone = CalendarZone.current(around: LaunchClock.wallTime)
    let since = session.since.map { ", since \($0.rfc3339(in: zone))" } ?? ""
    return "session '\(session.session)' is in use by \(holder)\(since)"
  }
}
