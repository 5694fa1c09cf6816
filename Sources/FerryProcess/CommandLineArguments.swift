#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// The words that this process was started with.
///
/// On Linux, Swift's runtime looks for `argv` on the stack, in front of what `environ` points to, when it is loaded
/// (stdlib/public/CommandLineSupport/CommandLine.cpp). It finds none where a preloaded library has set a variable
/// before, which moves `environ` to the heap (libfaketime does), nor without `/proc/self/maps`.
/// `CommandLine.arguments` is empty then.
package enum CommandLineArguments {
  /// Why there are none.
  package enum Failure: Error, Equatable {
    /// They cannot be found.
    case missing
    /// The argument of this number, from 1, is not UTF-8.
    case notUTF8(Int)
  }

  /// Without the program's name.
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

  /// - Parameter bytes: words that each end in a NUL (proc(5)).
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
