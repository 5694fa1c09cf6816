import CCurl

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// The libcurl library of this process.
enum CurlLibrary {
  /// Whether libcurl is ready. The first access runs `curl_global_init`.
  ///
  /// After the first access, SIGPIPE is ignored. With `CURLOPT_NOSIGNAL`, libcurl does not protect OpenSSL's
  /// writes from the signal (protection takes three system calls per transfer and turn), so a broken TLS
  /// connection would terminate the process.
  static let isReady: Bool = {
    signal(SIGPIPE, SIG_IGN)
    return curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK
  }()

  /// Whether an easy handle may be used for a second transfer.
  ///
  /// Before 8.1, a reused handle keeps a pointer into the header fields of its previous transfer, which
  /// libcurl has already freed (curl pull request 11103). If the first header line of the next response
  /// begins with a space or tab, libcurl writes to that memory.
  static let canReuseHandles = isAtLeast(0x08_02_00)

  /// Whether a second request can use a connection that was opened with prior knowledge of HTTP/2.
  ///
  /// libcurl 7.88 sends the connection preface once more and fails with CURLE_HTTP2 (fixed in 8.0.0: "http2: fix for
  /// http2-prior-knowledge when reusing connections").
  static let canShareWithPriorKnowledge = isAtLeast(0x08_00_00)

  private static func isAtLeast(_ version: UInt32) -> Bool {
    guard let info = curl_version_info(CURLVERSION_FIRST) else { return false }
    return info.pointee.version_num >= version
  }

  /// Whether the environment specifies an HTTPS proxy (curl(1), "Environment"). Bytes that such a proxy sends
  /// between two requests may already be decrypted in the TLS session with the proxy, where ferry cannot
  /// detect them. Therefore, connections through such a proxy are not reused.
  static let hasTLSProxy: Bool = proxyVariables.contains {
    guard let value = getenv($0) else { return false }
    return String(cString: value).lowercased().hasPrefix("https:")
  }

  /// Whether the environment specifies a proxy. Without one, libcurl need not read seven variables for each request.
  static let hasProxy: Bool = proxyVariables.contains { getenv($0) != nil }

  /// The variables in which libcurl looks for the proxy of an http or https URL.
  private static let proxyVariables = ["https_proxy", "HTTPS_PROXY", "http_proxy", "all_proxy", "ALL_PROXY"]

  /// The versions of libcurl and of the libraries with which it was built, as in `curl --version`.
  static var version: String { String(cString: curl_version()) }
}

/// libcurl could not be initialized, which happens only if memory or entropy is unavailable.
package struct CurlUnavailable: Error, CustomStringConvertible {
  package var description: String { "libcurl could not be initialized" }
}
