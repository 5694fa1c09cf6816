import CProcess

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// Excludes this process's memory, which contains secrets, from core dumps and from access by the user's
/// other processes.
package enum CoreDumps {
  /// If this variable is `1`, core dumps are allowed, for debugging.
  package static let variable = "FERRY_ALLOW_CORE_DUMPS"

  /// Forbids core dumps (PR_SET_DUMPABLE), unless the environment allows them.
  ///
  /// Programs that are started later are not affected. A core size limit of 0 (RLIMIT_CORE) would affect
  /// them, and would be ineffective if core dumps are piped to a program (core(5)).
  package static func forbid() {
    if let value = getenv(variable), strcmp(value, "1") == 0 { return }
    // With the argument 0, the call fails only on a system that does not support it.
    _ = ferry_set_dumpable(0)
  }
}
