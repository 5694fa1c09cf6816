#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

extension stat {
  /// Nanoseconds since 1970: by them a file is known again.
  ///
  /// They wrap around outside the years 1677 to 2262, which a file may well be of (touch(1)); one of those is known
  /// again all the same.
  package var modifiedNanoseconds: Int64 {
    #if canImport(Darwin)
    Int64(st_mtimespec.tv_sec) &* 1_000_000_000 &+ Int64(st_mtimespec.tv_nsec)
    #else
    Int64(st_mtim.tv_sec) &* 1_000_000_000 &+ Int64(st_mtim.tv_nsec)
    #endif
  }
}
