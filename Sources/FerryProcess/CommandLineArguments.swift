#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// The arguments with which this process was started.
///
/// On Linux, when Swift's runtime is loaded, it looks for `argv` on the stack, before the memory to which `environ`
/// points (stdlib/public/CommandLineSupport/CommandLine.cpp). The runtime finds nothing if a preloaded library has
/// already set a variable, which moves `environ` to the heap (as libfaketime does), or if there is no
/// `/proc/self/maps`. `CommandLine.arguments` is then empty.
package enum CommandLineArguments {
  /// The reason why there are no arguments.
  package enum Failure: Error, Equatable {
    /// The arguments cannot be found.
    case missing
    /// The argument with this number, counted from 1, is not valid UTF-8.
    case notUTF8(Int)
  }

  /// The arguments without the program's name.
  package static func find() throws(Failure) -> [String] {
    let count = Int(CommandLine.argc)
    let known = CommandLine.unsafeArgv
    if count > 0 {
      return try valid(
        (1..<max(count, 1)).map { index in known[index].map { String(validatingCString: $0) } ?? "" })
    }
    guard let bytes = contents(of: "/proc/self/cmdline"), !bytes.isEmpty else { throw .missing }
    return try words(of: bytes)
  }

  /// Returns the arguments from the content of `/proc/self/cmdline`, without the program's name.
  ///
  /// - Parameter bytes: NUL-terminated words (proc(5)).
  static func words(of bytes: [UInt8]) throws(Failure) -> [String] {
    let words = bytes.dropLast(bytes.last == 0 ? 1 : 0).split(separator: 0, omittingEmptySubsequences: false)
    return try valid(words.dropFirst().map { String(validating: $0, as: UTF8.self) })
  }

  private static func valid(_ words: [String?]) throws(Failure) -> [String] {
    if let index = words.firstIndex(of: nil) { throw .notUTF8(index + 1) }
    return words.compactMap(\.self)
  }

  private static func contents(of path: String) -> [UInt8]? {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 16 << 10)
    while true {
      let count = read(descriptor, &piece, piece.count)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { return nil }
      if count == 0 { return bytes }
      bytes += piece[..<count]
    }
  }
}
