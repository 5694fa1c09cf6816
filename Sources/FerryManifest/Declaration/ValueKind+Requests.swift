extension ValueKind where Value == Template {
  /// A string with references.
  static func template(_ what: String = "string") -> Self {
    Self(.text(what: what, references: true)) { node, decoder in decoder.template(node, wanted: "a \(what)") }
  }

  /// A nonempty string that may contain references.
  static func nonEmptyTemplate(_ what: String, isOptional: Bool = true) -> Self {
    template(what).refused { template in
      template.segments.isEmpty
        ? Problem(
          .emptyText, "the \(what) is empty",
          help: "specify a \(what)" + (isOptional ? ", or remove the key" : ""))
        : nil
    }
  }

  static var url: Self {
    Self(.text(what: "URL", references: true)) { node, decoder in
      guard let template = decoder.template(node, wanted: "a URL") else { return nil }
      guard let problem = URLRule.problem(template) else { return template }
      decoder.report(problem, at: node.location)
      return nil
    }
  }

  static var headerValue: Self {
    template().refused { template in
      let hasLineEnd = template.segments.contains { segment in
        switch segment {
        case .literal(let text), .value(let text):
          text.unicodeScalars.contains { $0.value < 0x20 && $0 != "\t" }
        case .reference: false
        }
      }
      return hasLineEnd
        ? Problem(
          .invalidHeaderValue, "a header value cannot contain a line break or control character",
          help: "write it on one line") : nil
    }
  }
}

extension ValueKind where Value == [RequestTemplate.Field] {
  /// Header fields in the manifest's order.
  static var headers: Self {
    fields(key: "header", value: .headerValue) { name in HeaderRule.problem(name, isSet: true) }
  }

  /// The pairs of `Upload-Metadata` (tus), in the manifest's order.
  static var metadata: Self {
    fields(key: "metadata key", value: .template()) { name in
      let isKey =
        !name.isEmpty && name.utf8.allSatisfy { (0x21..<0x7F).contains($0) && $0 != UInt8(ascii: ",") }
      return isKey
        ? nil
        : Problem(
          .invalidHeaderName, "a key of 'metadata' must be printable ASCII without spaces or commas",
          help: "write a key such as 'filename'")
    }
  }

  /// The parameters of a query, in the manifest's order.
  static var query: Self { fields(key: "parameter", value: .template()) { _ in nil } }

  /// The fields of a form, in the manifest's order.
  static var form: Self { fields(key: "field", value: .template()) { _ in nil } }

  private static func fields(
    key: String, value: ValueKind<Template>,
    problem: @escaping @Sendable (String) -> Problem?
  ) -> Self {
    Self(.map(key: key, value: value.form)) { node, decoder in
      guard let members = node.members else {
        decoder.mismatch(node, wanted: "a mapping of \(key)s")
        return nil
      }
      let outer = decoder.owner
      defer { decoder.owner = outer }
      var seen: [String: SourceLocation] = [:]
      return members.compactMap { member in
        decoder.owner = member.key
        let name = key == "field" ? decoder.name(ofKey: member.key) : member.key.value
        if let problem = problem(member.key.value) {
          decoder.report(problem, at: member.key.location)
        } else if key == "header",
          let first = seen.updateValue(member.key.location, forKey: member.key.value.lowercased())
        {
          decoder.report(
            .duplicateHeader, at: member.key.location,
            "duplicate header \(member.key.value.quoted)",
            help: "header names are case-insensitive; remove one of the two",
            notes: [.init("first defined here", at: first)])
        }
        return value.decode(member.value, &decoder).map { .init(name: name, value: $0) }
      }
    }
  }
}

extension ValueKind where Value == String {
  /// The name of a header field that the manifest reads from a response or sets on a request.
  static func headerName(isSet: Bool) -> Self {
    constant("header name").refused { HeaderRule.problem($0, isSet: isSet) }
  }

  static var method: Self {
    constant("HTTP method").refused { method in
      guard HeaderRule.isToken(method) else {
        return Problem(
          .invalidMethod, "an HTTP method is a single word",
          help: "use a method such as GET, POST or PUT")
      }
      guard method == method.uppercased() else {
        return Problem(
          .invalidMethod, "HTTP methods are uppercase", help: "write \(method.uppercased().quoted)",
          showsValue: true)
      }
      guard method != "CONNECT", method != "TRACE" else {
        return Problem(
          .invalidMethod, "the method \(method) cannot be used in a manifest",
          help: "use a method such as GET, POST or PUT")
      }
      return nil
    }
  }
}

extension ValueKind where Value == JSONTemplate {
  /// Any YAML value as JSON, with references in its strings.
  static var json: Self { Self(.json) { node, decoder in read(node, &decoder) } }

  /// A scalar without references, used for comparison.
  static var jsonScalar: Self {
    Self(.json) { node, decoder in
      guard node.scalar != nil else {
        decoder.mismatch(node, wanted: "a scalar")
        return nil
      }
      let outer = decoder.place
      decoder.place = .constant
      defer { decoder.place = outer }
      return read(node, &decoder)
    }
  }

  private static func read(_ node: YAMLNode, _ decoder: inout ManifestDecoder) -> JSONTemplate? {
    switch node.content {
    case .sequence(let elements):
      let values = elements.compactMap { read($0, &decoder) }
      return values.count == elements.count ? .array(values) : nil
    case .mapping(let members):
      let values = members.compactMap { member in
        let name = decoder.name(ofKey: member.key)
        return read(member.value, &decoder).map { JSONTemplate.Member(name: name, value: $0) }
      }
      return values.count == members.count ? .object(values) : nil
    case .scalar(let scalar):
      switch scalar.value {
      case .null: return .null
      case .bool(let value): return .bool(value)
      case .integer(let value): return .integer(value)
      case .float(let value) where value.isFinite: return .number(value)
      case .float:
        decoder.report(
          .numberNotInJSON, at: node.location, "JSON cannot represent the number \(scalar.text.clipped)",
          help: "quote it to send it as a string")
        return nil
      case .hugeInteger:
        decoder.report(
          .numberNotInJSON, at: node.location, "the number \(scalar.text.clipped) does not fit in 64 bits",
          help: "quote it to send it as a string")
        return nil
      case .string:
        return decoder.typedVariable(scalar.text, at: node.location)
          ?? decoder.template(node).map(JSONTemplate.string)
      }
    }
  }
}
