import Foundation

/// The bound on open files, which also bounds how many clients can be connected.
enum OpenFiles {
  /// Raises the bound as far as the system lets it; a shell's default is often 1024.
  static func allowMany() {
    var limit = rlimit()
    #if canImport(Darwin)
    let kind = RLIMIT_NOFILE
    #else
    let kind = RLIMIT_NOFILE.rawValue
    #endif
    guard getrlimit(numericCast(kind), &limit) == 0 else { return }
    // macOS refuses more than OPEN_MAX, whatever the hard bound says.
    limit.rlim_cur = min(limit.rlim_max, 10_240)
    setrlimit(numericCast(kind), &limit)
  }
}
