/// The conditions that a successful response meets.
package struct Expectation: Hashable, Codable, Sendable {
  /// The accepted status codes. If empty, any 2xx is accepted; for a fetch, only 200.
  package var status: [Int]
  /// Header fields that must be present, with their exact values.
  package var headers: [HeaderMatch]
  /// JSON pointers (RFC 6901), and the expected scalar at each, as JSON text.
  package var json: [JSONMatch]
  /// A regular expression that must match somewhere in the body.
  package var regex: String?

  /// The path of an element with text that the body must contain. The body must be XML, and must not contain an element
  /// whose name begins with `Error`, in upper or lower case. If the path is `nil`, any body is accepted. Only protocols
  /// set this property. The name `*` matches any element.
  package var element: String?
  /// Whether the `ETag` must match the parts that the item's transfer has sent to an S3 server.
  package var hasETagOfParts = false
  /// Whether the response must have a `Location`. Without it, it is unknown whether the server executed the request. Only
  /// protocols set this property.
  package var hasLocation = false

  package struct HeaderMatch: Hashable, Codable, Sendable {
    package var name: String
    package var value: String
    package init(name: String, value: String) {
      self.name = name
      self.value = value
    }
  }

  package struct JSONMatch: Hashable, Codable, Sendable {
    package var pointer: String
    package var value: JSONTemplate
    package init(pointer: String, value: JSONTemplate) {
      self.pointer = pointer
      self.value = value
    }
  }

  package init(
    status: [Int] = [], headers: [HeaderMatch] = [], json: [JSONMatch] = [], regex: String? = nil
  ) {
    self.status = status
    self.headers = headers
    self.json = json
    self.regex = regex
  }

  /// Whether the body or headers are checked, in addition to the status.
  package var readsAnswer: Bool {
    !headers.isEmpty || !json.isEmpty || regex != nil || element != nil
  }
}
