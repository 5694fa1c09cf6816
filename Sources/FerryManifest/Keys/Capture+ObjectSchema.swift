extension Capture {
  static let shape = ObjectSchema<Capture>(
    "Capture", doc: "Where a value is taken from a response: exactly one of the sources.",
    keys: [
      Key("json", \.json, .jsonPointer, doc: "A JSON pointer (RFC 6901) into the body.", example: "/id"),
      Key(
        "header", \.header, .headerName(isSet: false),
        doc: "A header field; the case of its name does not matter.",
        example: "Location"),
      Key(
        "regex", \.regex, .regex(needsGroup: true),
        doc: "The first group of the first match in the body (PCRE2).",
        example: "'id=(\\w+)'"),
      Key("status", \.status, .onlyTrue, doc: "The status code.", example: "true"),
      Key(
        "xml", \.xml, .constant("element path"), isBuilt: false,
        doc: "The text of an element of an XML body, named by the path of its elements.",
        example: "InitiateMultipartUploadResult/UploadId"),
      Key(
        "secret", \.isSecret, .boolean, doc: "Whether the value is a secret: it is masked in all output.",
        example: "true"),
      Key(
        "max_size", \.maxSize, .size, default: "64KiB",
        doc: "The maximum length of the value in bytes; with a longer value the step fails with `capture`.",
        example: "1KiB"),
    ],
    rules: [.exactlyOne(["json", "header", "regex", "status", "xml"])],
    blank: { name, _ in Capture(name: name.value, source: .status) })

  private var json: String? {
    get { if case .json(let pointer) = source { pointer } else { nil } }
    set { if let newValue { source = .json(pointer: newValue) } }
  }

  private var header: String? {
    get { if case .header(let name) = source { name } else { nil } }
    set { if let newValue { source = .header(newValue) } }
  }

  private var regex: String? {
    get { if case .regex(let pattern) = source { pattern } else { nil } }
    set { if let newValue { source = .regex(newValue) } }
  }

  private var xml: String? {
    get { if case .xml(let path) = source { path } else { nil } }
    set { if let newValue { source = .xml(path: newValue) } }
  }

  // Reads as nil, although a blank capture has this source, so that the reference page does not call it a
  // default.
  private var status: Bool? {
    get { nil }
    set { if newValue == true { source = .status } }
  }
}
