/// Recognizes host names and addresses of this machine.
enum LoopbackHost {
  /// Whether requests to the host stay on this computer.
  ///
  /// - Parameter host: as written in a URL; an IPv6 address is in brackets.
  static func contains(_ host: String) -> Bool {
    var name = host.lowercased()
    if name.hasPrefix("["), name.hasSuffix("]") {
      let address = name.dropFirst().dropLast()
      if let mapped = ["::ffff:", "0:0:0:0:0:ffff:"].first(where: { address.hasPrefix($0) }) {
        return isIPv4Loopback(address.dropFirst(mapped.count))
      }
      // RFC 4291 §2.5.3: all bits but the last are zero, however the address is abbreviated.
      return address.hasSuffix("1") && address.contains(":")
        && address.dropLast().allSatisfy { $0 == "0" || $0 == ":" }
    }
    if name.hasSuffix(".") { name.removeLast() }
    // RFC 6761 §6.3.
    return name == "localhost" || name.hasSuffix(".localhost") || isIPv4Loopback(name[...])
  }

  /// RFC 1122 §3.2.1.3: 127.0.0.0/8; resolvers also accept `127.1`.
  private static func isIPv4Loopback(_ address: Substring) -> Bool {
    address.hasPrefix("127.") && address.allSatisfy { $0 == "." || ($0.isASCII && $0.isNumber) }
  }
}
