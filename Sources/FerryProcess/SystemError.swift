#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// The C library's messages for error numbers, such as "Permission denied".
enum SystemError {
  static func text(_ number: Int32) -> String { String(cString: strerror(number)) }
}
