import CProcess

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// Keeps this process's memory, which has secrets in it, out of core dumps and from other processes of the user.
package enum CoreDumps {
  /// Allows them all the same, for debugging, where it is `1`.
  package static let variable = "FERRY_ALLOW_CORE_DUMPS"

  /// Forbids them (PR_SET_DUMPABLE), unless the environment asks for them.
  ///
  /// A program that is started later is not affected, as it would be by a core size limit of 0 (RLIMIT_CORE), which
  /// also does not bind a program that core dumps are piped to (core(5)).
  package static func forbid() {
    if let value = getenv(variable), strcmp(value, "1") == 0 { return }
    // It cannot fail with 0, other than on a system that has no such call.
    _ = ferry_set_dumpable(0)
  }
}
