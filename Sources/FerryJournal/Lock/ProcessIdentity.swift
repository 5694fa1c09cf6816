import FerryProcess
import Foundation

/// Identifies a process, so that a later process with the same pid is not mistaken for it.
package struct ProcessIdentity: Hashable, Sendable {
  package var pid: Int32
  /// The start time in the system's own unit since boot (proc(5), field 22); 0 if unknown.
  package var started: Int64
  /// The boot in which the process runs; empty if unknown.
  package var boot: String

  package init(pid: Int32, started: Int64, boot: String) {
    self.pid = pid
    self.started = started
    self.boot = boot
  }

  package static var current: ProcessIdentity {
    ProcessIdentity(pid: getpid(), started: startTime(of: getpid()) ?? 0, boot: currentBoot)
  }

  /// Whether the process still exists. A process in another container on this machine appears dead, but its
  /// run is still recorded when it ends.
  package var isAlive: Bool {
    guard boot == Self.currentBoot else { return false }
    if let time = Self.startTime(of: pid) { return time == started }
    // Without /proc, only the pid is known. The same applies if /proc hides processes (hidepid=, proc(5)): it
    // then hides even this user's own ferry processes, because ferry is not dumpable. EPERM means that the
    // process belongs to another user, so it is not a ferry process of this user.
    return (started == 0 || Self.hidesProcesses) && kill(pid, 0) == 0
  }

  /// Whether /proc hides process 1, which exists as long as the system runs.
  private static var hidesProcesses: Bool { startTime(of: 1) == nil }

  /// The identifier of the current boot; empty if unknown.
  static var currentBoot: String { SystemBoot.identifier ?? "" }

  private static func startTime(of pid: Int32) -> Int64? {
    // If the file is missing, either the process does not exist, or there is no /proc.
    guard let text = try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8) else { return nil }
    // The command is in parentheses and may contain spaces and parentheses. Field 3 follows the last
    // parenthesis.
    guard let end = text.lastIndex(of: ")") else { return nil }
    let fields = text[text.index(after: end)...].split(separator: " ")
    // In state Z or X, the process has ended, but its parent has not waited for it.
    guard let state = fields.first, state != "Z", state != "X" else { return nil }
    return fields.count > 19 ? Int64(fields[19]) : nil
  }
}
