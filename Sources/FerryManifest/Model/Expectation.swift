/// Which responses count as success.
package struct Expectation: Hashable, Codable, Sendable {
  /// Empty means any 2xx; for a fetch, 200.
  package var status: [Int]
  /// Header fields that must be present with exactly this value.
  package var headers: [HeaderMatch]
  /// JSON pointers (RFC 6901) and the scalars that must be there, as JSON text.
  package var json: [JSONMatch]
  /// A regular expression that the body must match somewhere.
  package var regex: String?

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
  package var readsAnswer: Bool { !headers.isEmpty || !json.isEmpty || regex != nil }
}
