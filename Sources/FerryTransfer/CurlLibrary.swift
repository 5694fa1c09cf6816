import CCurl

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// The libcurl of this process.
enum CurlLibrary {
  /// Whether libcurl is ready. The first access runs `curl_global_init`, once.
  ///
  /// SIGPIPE is ignored from then on. With `CURLOPT_NOSIGNAL`, libcurl does not shield OpenSSL's writes from
  /// the signal (shielding costs three system calls per transfer and turn), so a connection that breaks under
  /// TLS would terminate the process.
  static let isReady: Bool = {
    signal(SIGPIPE, SIG_IGN)
    return curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK
  }()

  /// Whether an easy handle may be used for a second transfer.
  ///
  /// Before 8.1, a reused handle keeps a pointer into the header fields of its previous transfer, which
  /// libcurl has already freed (curl pull request 11103). If the first header line of the next response
  /// begins with a blank, libcurl writes to that memory.
  static let canReuseHandles: Bool = {
    guard let info = curl_version_info(CURLVERSION_FIRST) else { return false }
    return info.pointee.version_num >= 0x08_02_00
  }()

  /// Whether the environment names an HTTPS proxy (curl(1), "Environment"). Bytes that such a proxy sends
  /// between two requests may sit decrypted in the proxy's own TLS session, where ferry cannot detect them.
  /// Connections through it are therefore not reused.
  static let hasTLSProxy: Bool = ["https_proxy", "HTTPS_PROXY", "http_proxy", "all_proxy", "ALL_PROXY"]
    .contains {
      guard let value = getenv($0) else { return false }
      return String(cString: value).lowercased().hasPrefix("https:")
    }

  /// libcurl and the libraries it was built with, as `curl --version` names them.
  static var version: String { String(cString: curl_version()) }
}

/// libcurl could not be initialized. It reports this only if it lacks memory or entropy.
package struct CurlUnavailable: Error, CustomStringConvertible {
  package var description: String { "libcurl could not be initialized" }
}
