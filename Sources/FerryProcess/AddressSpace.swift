#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// The address space that this process may still map (RLIMIT_AS).
package enum AddressSpace {
  /// Whether this many bytes can be mapped now. The function maps them briefly and never uses them.
  package static func hasRoom(for bytes: Int) -> Bool {
    guard let place = mmap(nil, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), place != MAP_FAILED
    else { return false }
    munmap(place, bytes)
    return true
  }
}
