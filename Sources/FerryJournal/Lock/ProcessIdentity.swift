import Foundation

/// Which process it is, so that a later one with the same pid is not taken for it.
package struct ProcessIdentity: Hashable, Sendable {
  package var pid: Int32
  /// When it started, in the system's own unit since boot (proc(5), field 22); 0 where that is not known.
  package var started: Int64
  /// The boot that it belongs to; empty where that is not known.
  package var boot: String

  package init(pid: Int32, started: Int64, boot: String) {
    self.pid = pid
    self.started = started
    self.boot = boot
  }

  package static var current: ProcessIdentity {
    ProcessIdentity(pid: getpid(), started: startTime(of: getpid()) ?? 0, boot: currentBoot)
  }

  /// Whether the process is still there. A process that another container of this machine runs looks dead;
  /// its run is recorded all the same when it ends.
  package var isAlive: Bool {
    guard boot == Self.currentBoot else { return false }
    if let time = Self.startTime(of: pid) { return time == started }
    // Without /proc the pid is all there is; EPERM says that it is someone else's, so not ours.
    return started == 0 && kill(pid, 0) == 0
  }

  /// The running boot; empty where it is not known.
  static var currentBoot: String {
    // Only Linux has the file.
    let text = try? String(contentsOfFile: "/proc/sys/kernel/random/boot_id", encoding: .utf8)
    return text?.trimmingCharacters(in: .whitespacesAndNewlines) ?? ""
  }

  private static func startTime(of pid: Int32) -> Int64? {
    // No file: no such process, or no /proc.
    guard let text = try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8) else { return nil }
    // The command stands in parentheses and may hold spaces and parentheses; field 3 follows the last one.
    guard let end = text.lastIndex(of: ")") else { return nil }
    let fields = text[text.index(after: end)...].split(separator: " ")
    return fields.count > 19 ? Int64(fields[19]) : nil
  }
}
