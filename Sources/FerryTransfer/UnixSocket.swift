import CCurl

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// The Unix domain sockets to which libcurl may connect.
///
/// In a world-writable folder, any user can create a socket with the name that the server uses, and would
/// then receive the requests.
enum UnixSocket {
  /// Whether libcurl may connect to an address; always true for other kinds of addresses.
  static func mayConnect(_ address: UnsafeMutablePointer<curl_sockaddr>) -> Bool {
    guard address.pointee.family == AF_UNIX else { return true }
    guard let start = MemoryLayout<curl_sockaddr>.offset(of: \.addr),
      let pathStart = MemoryLayout<sockaddr_un>.offset(of: \.sun_path)
    else { return false }
    let length = Int(address.pointee.addrlen)
    guard length > pathStart else { return false }
    // The address is longer than `sockaddr`; libcurl provides memory for all of it.
    let path = UnsafeRawBufferPointer(
      start: UnsafeRawPointer(address) + start + pathStart, count: length - pathStart)
    return refusal(path.prefix { $0 != 0 }) == nil
  }

  /// The reason why a socket must not be connected to, or does not exist; `nil` if it may.
  static func refusal(_ path: some Sequence<UInt8>) -> String? {
    do throws(FolderPath.Failure) {
      close(try FolderPath.file(Array(path), for: .looking))
      return nil
    } catch {
      return error.reason
    }
  }
}
