/// A download batch: a list of URLs, each of which is stored in a file.
package struct Download: Equatable, Sendable {
  package var name: Located<String>
  package var session: Located<String>
  package var token: Located<String>?
  package var needs: [Located<String>]
  package var items: DownloadItems
  /// Which items are downloaded again; `when_changed` by default.
  package var deliver: Upload.Deliver
  /// The priority, from 0.0 to 1.0. Batches with a higher priority are started first. Default 0.5.
  package var priority: Double
  package var batch: Upload.Batch
  /// The request for each item. Its URL is that of `items`.
  package var request: RequestTemplate
  package var expect: Expectation
  /// The maximum number of bytes stored for each item; `nil` for no limit.
  package var maxSize: Int64?
  /// Whether a file gets the modification time that the server states.
  package var keepsModified: Bool
  /// The number of ranges of a file that may be downloaded at once.
  package var segments = 1
  package var retry: RetryPolicy

  package init(
    name: Located<String>, session: Located<String>, token: Located<String>? = nil,
    needs: [Located<String>] = [], items: DownloadItems, deliver: Upload.Deliver = .whenChanged,
    priority: Double = 0.5, batch: Upload.Batch = .init(),
    request: RequestTemplate = RequestTemplate(url: Template([])), expect: Expectation = .init(),
    maxSize: Int64? = nil, keepsModified: Bool = false, retry: RetryPolicy = .init()
  ) {
    self.name = name
    self.session = session
    self.token = token
    self.needs = needs
    self.items = items
    self.deliver = deliver
    self.priority = priority
    self.batch = batch
    self.request = request
    self.expect = expect
    self.maxSize = maxSize
    self.keepsModified = keepsModified
    self.retry = retry
  }

  /// The request for each item, with the URL and the digest that `items` specifies.
  package var itemRequest: RequestTemplate {
    var request = request
    request.url = items.url
    if let sha256 = items.sha256, request.checksum == nil {
      request.checksum = DownloadChecksum()
      request.checksum?.sha256 = sha256
    }
    return request
  }
}
