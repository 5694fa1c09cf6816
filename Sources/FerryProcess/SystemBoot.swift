#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// The period since the system started.
package enum SystemBoot {
  /// Identifies the period; `nil` if the system does not state it. Only Linux does (random(4)).
  package static let identifier: String? = {
    let descriptor = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: 64)
    let count = max(0, read(descriptor, &bytes, bytes.count))
    let text = String(decoding: bytes[..<count].prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
    return text.isEmpty || !text.allSatisfy({ $0.isHexDigit || $0 == "-" }) ? nil : text
  }()
}
