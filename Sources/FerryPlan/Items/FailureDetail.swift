/// The details of a failed request, for reports.
///
/// Each string is masked, printable and on one line. This is a class, because a million failures may share a few
/// details.
package final class FailureDetail: Hashable, Sendable {
  /// The method of the request.
  package let method: String?
  /// The URL of the request, without its user name and password, and with `***` for each value in its query.
  package let url: String?
  /// `host:port` of the proxy through which the request was sent or was to be sent.
  package let proxy: String?
  /// The reason phrase of the response (RFC 9112, section 4).
  package let reasonPhrase: String?
  /// The beginning of the response's body, if it is text.
  package let body: String?

  package init(
    method: String? = nil, url: String? = nil, proxy: String? = nil, reasonPhrase: String? = nil,
    body: String? = nil
  ) {
    self.method = method
    self.url = url
    self.proxy = proxy
    self.reasonPhrase = reasonPhrase
    self.body = body
  }

  package static func == (a: FailureDetail, b: FailureDetail) -> Bool {
    (a.method, a.url, a.proxy, a.reasonPhrase, a.body) == (b.method, b.url, b.proxy, b.reasonPhrase, b.body)
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(method)
    hasher.combine(url)
    hasher.combine(proxy)
    hasher.combine(reasonPhrase)
    hasher.combine(body)
  }
}
