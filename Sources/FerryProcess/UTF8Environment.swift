#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// Rejects text that is not valid UTF-8. Swift would replace invalid bytes, and the result may be the name of another
/// file, which another user may have created.
package enum UTF8Environment {
  /// Removes the environment variables whose values are not valid UTF-8, and returns their names.
  ///
  /// Must be called before any other thread runs.
  package static func removeOthers() -> [String] {
    var removed: [String] = []
    var index = 0
    while let entry = environ[index] {
      guard String(validatingCString: entry) == nil, let end = strchr(entry, CInt(UInt8(ascii: "="))) else {
        index += 1
        continue
      }
      let name = UnsafeRawBufferPointer(start: entry, count: end - entry)
      // unsetenv moves the following entries up, so the index stays the same. A name that is not valid UTF-8 is never
      // looked up.
      guard let name = String(validating: name, as: UTF8.self), unsetenv(name) == 0 else {
        index += 1
        continue
      }
      removed.append(name)
    }
    return removed
  }
}
