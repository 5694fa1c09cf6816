extension Expectation {
  static let shape = ObjectSchema<Expectation>(
    "Expect", doc: "The conditions that a response must meet to count as a success. All of them must hold.",
    keys: [
      Key(
        "status", \.status, .list(.status, atLeastOne: true), default: "any 2xx; for a fetch 200",
        doc:
          "The status codes that count as success. A fetch stores the body of a listed 2xx, except 204, 205, 206 and 226. A listed 206 or 226 fails; any other listed status ends the fetch with `no_data`.",
        example: "[200, 201, 204]"),
      Key(
        "header", \.headers, .headerMatches, default: "none",
        doc: "Header fields that must be present, with their exact values.", example: "{ X-State: stored }"),
      Key(
        "json", \.json, .jsonMatches, default: "none",
        doc: "JSON pointers (RFC 6901) into the body, and the expected scalar at each.",
        example: "{ /status: stored }"),
      Key(
        "regex", \.regex, .regex(needsGroup: false),
        doc: "A regular expression (PCRE2) that must match somewhere in the body.",
        example: "'^OK'"),
    ],
    blank: { _, _ in Expectation() })
}

extension ValueKind where Value == [Expectation.HeaderMatch] {
  fileprivate static var headerMatches: Self {
    let text = ValueKind<String>.constant("string")
    return Self(.map(key: "header", value: text.form)) { node, decoder in
      guard let members = node.members else {
        decoder.mismatch(node, wanted: "a mapping of headers")
        return nil
      }
      return members.compactMap { member in
        if let problem = HeaderRule.problem(member.key.value, isSet: false) {
          decoder.report(problem, at: member.key.location)
        }
        return text.decode(member.value, &decoder).map { .init(name: member.key.value, value: $0) }
      }
    }
  }
}

extension ValueKind where Value == [Expectation.JSONMatch] {
  fileprivate static var jsonMatches: Self {
    let scalar = ValueKind<JSONTemplate>.jsonScalar
    let form = ValueForm.either([.text(what: "scalar", references: false), .choice(["null"])])
    return Self(.map(key: "JSON pointer", value: form)) { node, decoder in
      guard let members = node.members else {
        decoder.mismatch(node, wanted: "a mapping of JSON pointers")
        return nil
      }
      return members.compactMap { member in
        let pointer = decoder.name(ofKey: member.key)
        if let problem = PointerRule.problem(pointer) {
          decoder.report(problem, at: member.key.location)
        }
        return scalar.decode(member.value, &decoder).map { .init(pointer: pointer, value: $0) }
      }
    }
  }
}
