import Testing

@testable import FerryTransfer

/// The proxy that libcurl uses for a URL (curl(1), "Environment"; CURLOPT_NOPROXY(3)).
struct ProxySettingsTests {
  private func proxy(_ url: String, _ variables: [String: String]) -> String? {
    ProxySettings { variables[$0] }?.address(for: url)
  }

  @Test func theVariableOfTheSchemeNamesTheProxy() {
    let all = ["http_proxy": "http://a:1", "https_proxy": "b:2", "ALL_PROXY": "socks5h://c"]
    #expect(proxy("http://h/", all) == "a:1")
    #expect(proxy("https://h/", all) == "b:2")
    #expect(proxy("http://h/", ["HTTP_PROXY": "a:1"]) == nil)
    #expect(proxy("https://h/", ["HTTPS_PROXY": "a:1"]) == "a:1")
    #expect(proxy("http://h/", ["ALL_PROXY": "socks5h://c", "http_proxy": ""]) == "c:1080")
    #expect(ProxySettings { _ in nil } == nil)
  }

  @Test(arguments: [
    ("http://user:se%40cret@proxy.example:3128/", "proxy.example:3128"), ("user:a@b@proxy", "proxy:1080"),
    ("https://proxy", "proxy:443"), ("[::1]:8", "[::1]:8"), ("http://[fe80::1]", "[fe80::1]:1080"),
    ("http://user:pass/word@proxy:1/", "proxy:1"), ("http://user:a#b?c@proxy:1", "proxy:1"),
  ])
  func theAddressHasNoCredentials(_ text: String, address: String) {
    #expect(proxy("http://h/", ["http_proxy": text]) == address)
  }

  @Test(arguments: [
    ("h.example", "h.example", true), ("h.example", "example", true), ("h.example", ".example", true),
    ("xh.example", "h.example", false), ("H.Example", "other, h.EXAMPLE", true), ("h.example", "*", true),
    ("h.example", "a b\th.example.", true), ("10.1.2.3", "10.0.0.0/8", true),
    ("11.1.2.3", "10.0.0.0/8", false),
    ("10.1.2.3", "10.1.2.3", true), ("10.1.2.3", "2.3", false), ("[2001:db8::1]", "2001:db8::/32", true),
    ("[2001:db8::1]", "[2001:db8::1]", true), ("[2001:db9::1]", "2001:db8::/32", false),
    ("10.1.2.3", "10.0.0.0/33", false),
    ("10.1.2.3", "0.0.0.0/0", true),
  ])
  func excludedHostsHaveNoProxy(_ host: String, _ list: String, isExcluded: Bool) {
    let settings = ["http_proxy": "p:1", "no_proxy": list]
    #expect((proxy("http://\(host)/", settings) == nil) == isExcluded)
    #expect((proxy("http://\(host)/", ["http_proxy": "p:1", "NO_PROXY": list]) == nil) == isExcluded)
  }
}
