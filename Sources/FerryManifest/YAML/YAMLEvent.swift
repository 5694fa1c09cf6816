import CYaml

/// One event of libyaml's parser, in Swift values.
struct YAMLEvent {
  enum Kind {
    case documentStart
    case alias(String)
    case scalar(YAMLScalar, Properties)
    case sequenceStart(Properties)
    case mappingStart(Properties)
    case collectionEnd
    /// Stream start and end, and document end, which are ignored.
    case other
  }

  /// The anchor and tag that may precede a value.
  struct Properties {
    var anchor: String?
    var tag: String?
  }

  var kind: Kind
  /// The line, starting at 0 as in libyaml.
  var line: Int
  var column: Int

  init(_ event: yaml_event_t) {
    line = event.start_mark.line
    column = event.start_mark.column
    switch event.type {
    case YAML_DOCUMENT_START_EVENT:
      kind = .documentStart
    case YAML_ALIAS_EVENT:
      kind = .alias(Self.text(event.data.alias.anchor) ?? "")
    case YAML_SCALAR_EVENT:
      let scalar = event.data.scalar
      let bytes = UnsafeBufferPointer(start: scalar.value, count: scalar.length)
      kind = .scalar(
        YAMLScalar(
          text: String(decoding: bytes, as: UTF8.self), style: Self.style(scalar.style),
          isOnOneLine: event.start_mark.line == event.end_mark.line),
        Properties(anchor: Self.text(scalar.anchor), tag: Self.text(scalar.tag)))
    case YAML_SEQUENCE_START_EVENT:
      let start = event.data.sequence_start
      kind = .sequenceStart(Properties(anchor: Self.text(start.anchor), tag: Self.text(start.tag)))
    case YAML_MAPPING_START_EVENT:
      let start = event.data.mapping_start
      kind = .mappingStart(Properties(anchor: Self.text(start.anchor), tag: Self.text(start.tag)))
    case YAML_SEQUENCE_END_EVENT, YAML_MAPPING_END_EVENT:
      kind = .collectionEnd
    default:
      kind = .other
    }
  }

  private static func style(_ style: yaml_scalar_style_t) -> YAMLScalar.Style {
    switch style {
    case YAML_SINGLE_QUOTED_SCALAR_STYLE: .singleQuoted
    case YAML_DOUBLE_QUOTED_SCALAR_STYLE: .doubleQuoted
    case YAML_LITERAL_SCALAR_STYLE: .literal
    case YAML_FOLDED_SCALAR_STYLE: .folded
    default: .plain
    }
  }

  private static func text(_ pointer: UnsafeMutablePointer<yaml_char_t>?) -> String? {
    pointer.map { String(cString: $0) }
  }
}

extension YAMLEvent {
  /// Passes the events of a string to `body`, in order, until it returns false.
  ///
  /// Returns libyaml's error, if there is one.
  static func forEach(in source: SourceText, _ body: (YAMLEvent) -> Bool) -> Diagnostic? {
    let parser = UnsafeMutablePointer<yaml_parser_t>.allocate(capacity: 1)
    defer { parser.deallocate() }
    guard yaml_parser_initialize(parser) != 0 else {
      return Diagnostic(.syntax, at: source.start, "out of memory while reading the manifest")
    }
    defer { yaml_parser_delete(parser) }
    yaml_parser_set_encoding(parser, YAML_UTF8_ENCODING)

    // libyaml keeps the pointer until the parser is deleted, so all work is done inside the closure.
    return source.bytes.withUnsafeBufferPointer { buffer in
      yaml_parser_set_input_string(parser, buffer.baseAddress, buffer.count)
      var event = yaml_event_t()
      while true {
        guard yaml_parser_parse(parser, &event) != 0 else {
          return Diagnostic(libyaml: parser.pointee, in: source)
        }
        defer { yaml_event_delete(&event) }
        guard event.type != YAML_STREAM_END_EVENT, event.type != YAML_NO_EVENT else { return nil }
        guard body(YAMLEvent(event)) else { return nil }
      }
    }
  }
}
