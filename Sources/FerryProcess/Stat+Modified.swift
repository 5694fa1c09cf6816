#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

extension stat {
  /// The modification time in nanoseconds since 1970, used to recognize an unchanged file.
  ///
  /// The number wraps around outside the years 1677 to 2262. A file with such a time (touch(1)) is still
  /// recognized.
  package var modifiedNanoseconds: Int64 {
    #if canImport(Darwin)
    Int64(st_mtimespec.tv_sec) &* 1_000_000_000 &+ Int64(st_mtimespec.tv_nsec)
    #else
    Int64(st_mtim.tv_sec) &* 1_000_000_000 &+ Int64(st_mtim.tv_nsec)
    #endif
  }
}
