/// One HTTP request as the manifest writes it.
package struct RequestTemplate: Hashable, Codable, Sendable {
  /// An HTTP method (RFC 9110 §9), in capitals as written.
  package var method: String
  package var url: Template
  package var headers: [Field]
  package var body: Body

  package struct Field: Hashable, Codable, Sendable {
    package var name: String
    package var value: Template

    package init(name: String, value: Template) {
      self.name = name
      self.value = value
    }
  }

  package enum Body: Hashable, Codable, Sendable {
    case none
    /// `application/x-www-form-urlencoded`, in the manifest's order.
    case form([Field])
    case json(JSONTemplate)
  }

  package init(method: String = "GET", url: Template, headers: [Field] = [], body: Body = .none) {
    self.method = method
    self.url = url
    self.headers = headers
    self.body = body
  }

  /// Every reference in the request: URL, headers, body.
  package var references: [Reference] {
    var all = url.references + headers.flatMap(\.value.references)
    switch body {
    case .none: break
    case .form(let fields): all += fields.flatMap(\.value.references)
    case .json(let json): all += json.references
    }
    return all
  }
}

/// A JSON value with templates for leaves; the members of an object keep the manifest's order.
package indirect enum JSONTemplate: Hashable, Codable, Sendable {
  case null
  case bool(Bool)
  case integer(Int64)
  case number(Double)
  /// A leaf that is one reference alone keeps the type of its value: a size is sent as a number.
  case string(Template)
  case array([JSONTemplate])
  case object([Member])

  package struct Member: Hashable, Codable, Sendable {
    package var name: String
    package var value: JSONTemplate

    package init(name: String, value: JSONTemplate) {
      self.name = name
      self.value = value
    }
  }

  package var references: [Reference] {
    switch self {
    case .null, .bool, .integer, .number: []
    case .string(let template): template.references
    case .array(let values): values.flatMap(\.references)
    case .object(let members): members.flatMap(\.value.references)
    }
  }
}

/// Where in an answer a value is taken from.
package struct Capture: Hashable, Codable, Sendable {
  package var name: String
  package var source: Source
  /// Masked wherever it would be seen, and kept in a column that is never printed.
  package var isSecret: Bool

  package enum Source: Hashable, Codable, Sendable {
    /// A JSON pointer (RFC 6901) into the body.
    case json(pointer: String)
    /// A header field, its name without regard to case.
    case header(String)
    /// The first group of the first match in the body.
    case regex(String)
    case status
  }

  package init(name: String, source: Source, isSecret: Bool = false) {
    self.name = name
    self.source = source
    self.isSecret = isSecret
  }
}

/// Which answers count as success.
package struct Expectation: Hashable, Codable, Sendable {
  /// Empty: any 2xx.
  package var status: [Int]
  /// Header fields that must be there with exactly this value.
  package var headers: [HeaderMatch]
  /// JSON pointers (RFC 6901) and the scalar that must stand there, as JSON text.
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

  /// Whether the body or headers are looked at, besides the status.
  package var readsAnswer: Bool { !headers.isEmpty || !json.isEmpty || regex != nil }
}
