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
  /// Whether libcurl is ready; `curl_global_init` runs once, at the first question.
  ///
  /// SIGPIPE is ignored from then on: with `CURLOPT_NOSIGNAL` libcurl no longer shields OpenSSL's
  /// writes from it (which costs three system calls a transfer and turn), so a connection that
  /// breaks under TLS would end the process.
  static let isReady: Bool = {
    signal(SIGPIPE, SIG_IGN)
    return curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK
  }()

  /// Whether an easy handle may be used for a second transfer.
  ///
  /// Before 8.1 libcurl keeps a pointer into the header fields of a handle's transfer before, which it has freed
  /// (curl pull request 11103). A response whose first header line begins with a blank makes it write there.
  static let canReuseHandles: Bool = {
    guard let info = curl_version_info(CURLVERSION_FIRST) else { return false }
    return info.pointee.version_num >= 0x08_02_00
  }()

  /// Whether the environment names an https proxy (curl(1), "Environment"). What such a proxy sends between two requests
  /// may lie decrypted in its own TLS session, where it is not found, so none of its connections is used again.
  static let hasTLSProxy: Bool = ["https_proxy", "HTTPS_PROXY", "http_proxy", "all_proxy", "ALL_PROXY"]
    .contains {
      guard let value = getenv($0) else { return false }
      return String(cString: value).lowercased().hasPrefix("https:")
    }

  /// libcurl and the libraries it was built with, as `curl --version` names them.
  static var version: String { String(cString: curl_version()) }
}

/// libcurl could not be set up, which it says only for want of memory or entropy.
package struct CurlUnavailable: Error, CustomStringConvertible {
  package var description: String { "libcurl could not be initialized" }
}
