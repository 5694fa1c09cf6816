extension Capture {
  static let shape = ObjectSchema<Capture>(
    "Capture", doc: "The source of a value in a response.",
    keys: [
      Key("json", \.json, .jsonPointer, doc: "A JSON pointer (RFC 6901) into the body.", example: "/id"),
      Key(
        "header", \.header, .headerName(isSet: false),
        doc: "A header field; its name is case-insensitive.",
        example: "Location"),
      Key(
        "regex", \.regex, .regex(needsGroup: true),
        doc: "A regular expression (PCRE2): the first group of its first match in the body.",
        example: "'id=(\\w+)'"),
      Key("status", \.status, .onlyTrue, doc: "The status code.", example: "true"),
      Key(
        "xml", \.xml, .elementPath,
        doc:
          "The text of an XML element in the body: the names of the elements from the root to it, separated by `/`, without namespace prefixes. If several elements have this path, the first one is used.",
        example: "InitiateMultipartUploadResult/UploadId"),
      Key(
        "secret", \.isSecret, .boolean,
        doc: "Whether the value is secret. A secret value is masked in all output.",
        example: "true"),
      Key(
        "max_size", \.maxSize, .size, default: "64KiB",
        doc:
          "The maximum length of the value in bytes. If the value is longer, the step fails with `capture`.",
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

  // Returns nil although a blank capture has this source, so that the reference page does not list it as a
  // default.
  private var status: Bool? {
    get { nil }
    set { if newValue == true { source = .status } }
  }
}
