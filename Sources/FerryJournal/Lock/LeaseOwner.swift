import Foundation

/// The process that owns the lease of a journal, or bytes of a budget, among the processes of several machines.
package struct LeaseOwner: Hashable, Sendable {
  package var process: ProcessIdentity
  package var host: String
  /// The process's namespaces of process IDs and of times, separated by a comma; empty if unknown. In other namespaces,
  /// the ID refers to another process, and the same process has another start time.
  package var namespaces: String

  static var current: Self {
    // Only Linux has this file. Foundation is not used, because it may query a name server for the host name.
    let host = (try? String(contentsOfFile: "/proc/sys/kernel/hostname", encoding: .utf8))?
      .trimmingCharacters(in: .whitespacesAndNewlines)
    let namespaces = ["pid", "time"].compactMap(namespace)
    return Self(process: .current, host: host ?? "", namespaces: namespaces.joined(separator: ","))
  }

  /// The name of this process's namespace of a kind, such as `pid:[4026531836]`; `nil` if it is unknown.
  static func namespace(_ kind: String) -> String? {
    // Only Linux has namespaces.
    try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/ns/\(kind)")
  }

  /// Whether the process has certainly ended: it ran on this machine, where no process has its ID.
  var hasEnded: Bool {
    let current = Self.current
    return process.boot == current.process.boot && !process.boot.isEmpty && namespaces == current.namespaces
      && !namespaces.isEmpty && !process.isAlive
  }

  /// The stored form: pid, start time, boot, namespaces and host, separated by spaces.
  var text: String { "\(process.pid) \(process.started) \(place)" }

  /// The scope in which the process ID and the start time identify one process: boot, namespaces and host, separated by
  /// spaces.
  var place: String {
    "\(process.boot.isEmpty ? "-" : process.boot) \(namespaces.isEmpty ? "-" : namespaces) \(host)"
  }
}

extension LeaseOwner {
  init?(_ text: String) {
    let words = text.split(separator: " ", maxSplits: 4, omittingEmptySubsequences: false).map(String.init)
    guard words.count == 5, let pid = Int32(words[0]), let started = Int64(words[1]) else { return nil }
    self.init(
      process: ProcessIdentity(pid: pid, started: started, boot: words[2] == "-" ? "" : words[2]),
      host: words[4], namespaces: words[3] == "-" ? "" : words[3])
  }
}
