import Foundation

/// The limit on open files, which also limits how many clients can be connected.
enum OpenFiles {
  /// Sets the limit to the hard limit or to 10,240, whichever is lower. A shell's default is often 1024.
  static func allowMany() {
    var limit = rlimit()
    #if canImport(Darwin)
    let kind = RLIMIT_NOFILE
    #else
    let kind = RLIMIT_NOFILE.rawValue
    #endif
    guard getrlimit(numericCast(kind), &limit) == 0 else { return }
    // macOS rejects more than OPEN_MAX, even if the hard limit is higher.
    limit.rlim_cur = min(limit.rlim_max, 10_240)
    setrlimit(numericCast(kind), &limit)
  }
}
