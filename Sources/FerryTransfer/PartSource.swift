import FerryDigest

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// Identifies the document that a URL returns, by a digest, because a URL may contain a secret.
enum PartSource {
  /// - Parameter url: the URL of a hop of the request.
  ///
  /// Servers that redirect to a presigned URL sign each one separately, so the query of the target of a redirect is
  /// ignored. The validator still has to match.
  static func digest(of url: String, _ request: TransferRequest) -> String {
    let target = url == request.url ? url : String(url.prefix { $0 != "?" })
    let accepted = request.headers.filter { $0.name.lowercased().hasPrefix("accept") }
      .map { "\($0.name.lowercased()): \($0.value)\n" }.sorted().joined()
    return Hexadecimal.text(SHA256.hash("\(request.url)\n\(target)\n\(accepted)".utf8).prefix(16))
  }

  /// The value if the system does not provide the period. Parts are then not continued, because they may have lost
  /// bytes.
  static let unknownBoot = "-"

  /// Identifies the period since the system started.
  static let boot: String = {
    let descriptor = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return unknownBoot }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: 64)
    let count = max(0, read(descriptor, &bytes, bytes.count))
    let text = String(decoding: bytes[..<count], as: UTF8.self)
    return text.allSatisfy { $0.isHexDigit || $0 == "-" || $0 == "\n" } && count > 1
      ? String(text.dropLast()) : unknownBoot
  }()
}
