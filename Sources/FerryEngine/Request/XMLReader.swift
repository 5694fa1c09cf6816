import CExpat

/// Reads an XML 1.0 document (libexpat) in linear time.
///
/// A document type declaration is rejected, so no entity is declared, expanded or loaded. Namespaces are ignored:
/// the name of an element is the part after the prefix.
enum XMLReader {
  /// The maximum number of levels of nested elements.
  static let depthLimit = 256
  /// The maximum number of elements.
  static let elementLimit = 100_000

  /// Parses a document.
  ///
  /// - Parameter bytes: the document, in an encoding that it declares itself: UTF-8 (the default), UTF-16, ISO-8859-1
  ///   or US-ASCII.
  /// - Returns: the root element.
  static func read(_ bytes: [UInt8]) throws(XMLProblem) -> XMLValue {
    guard let parser = XML_ParserCreate(nil) else { throw .outOfMemory }
    defer { XML_ParserFree(parser) }
    guard let count = Int32(exactly: bytes.count) else { throw .tooLarge }
    let builder = XMLTreeBuilder(parser)
    let status = withExtendedLifetime(builder) {
      builder.observe()
      return bytes.withUnsafeBytes {
        XML_Parse(parser, $0.bindMemory(to: CChar.self).baseAddress, count, 1)
      }
    }
    if let problem = builder.problem { throw problem }
    guard status == XML_STATUS_OK, let root = builder.root else {
      let code = XML_GetErrorCode(parser)
      guard code != XML_ERROR_NO_MEMORY else { throw .outOfMemory }
      let reason = XML_ErrorString(code).map { String(cString: $0) } ?? "unknown error"
      throw .malformed(reason: reason, line: Int(clamping: XML_GetCurrentLineNumber(parser)))
    }
    return root
  }
}

/// The reason why text could not be read as XML.
enum XMLProblem: Error, Hashable {
  /// - reason: libexpat's description, which contains nothing of the document.
  case malformed(reason: String, line: Int)
  case documentType
  /// The nesting is deeper than `XMLReader.depthLimit`.
  case tooDeep
  /// There are more elements than `XMLReader.elementLimit`.
  case tooManyElements
  /// 2 GiB or more.
  case tooLarge
  case outOfMemory

  /// A clause about the response, for messages.
  var message: String {
    switch self {
    case .malformed(let reason, let line): "the response is not XML: \(reason) in line \(line)"
    case .documentType: "the response's XML has a document type declaration, which ferry does not read"
    case .tooDeep: "the response's XML is nested more than \(XMLReader.depthLimit) levels deep"
    case .tooManyElements: "the response's XML contains more than \(XMLReader.elementLimit) elements"
    case .tooLarge: "the response's XML is too large"
    case .outOfMemory: "there is not enough memory to read the response's XML"
    }
  }
}

/// Builds the tree from libexpat's events.
private final class XMLTreeBuilder {
  /// An element whose end tag has not been read.
  private struct Open {
    var name: String
    var text: [UInt8] = []
    var children: [XMLValue] = []
  }

  private let parser: XML_Parser
  private var open: [Open] = []
  private var elements = 0
  private(set) var root: XMLValue?
  /// The reason why the parser was stopped.
  private(set) var problem: XMLProblem?

  init(_ parser: XML_Parser) { self.parser = parser }

  /// Sets the callbacks of the parser. The builder must outlive the parsing, because the parser does not retain it.
  func observe() {
    XML_SetUserData(parser, Unmanaged.passUnretained(self).toOpaque())
    XML_SetElementHandler(
      parser,
      { context, name, _ in
        guard let name else { return }
        XMLTreeBuilder.of(context)?.start(String(cString: name))
      },
      { context, _ in XMLTreeBuilder.of(context)?.end() })
    XML_SetCharacterDataHandler(parser) { context, text, count in
      guard let text else { return }
      XMLTreeBuilder.of(context)?.append(UnsafeRawBufferPointer(start: text, count: Int(count)))
    }
    XML_SetStartDoctypeDeclHandler(parser) { context, _, _, _, _ in
      XMLTreeBuilder.of(context)?.stop(.documentType)
    }
  }

  private static func of(_ context: UnsafeMutableRawPointer?) -> XMLTreeBuilder? {
    context.map { Unmanaged<XMLTreeBuilder>.fromOpaque($0).takeUnretainedValue() }
  }

  private func stop(_ problem: XMLProblem) {
    // libexpat may call further handlers before it stops.
    guard self.problem == nil else { return }
    self.problem = problem
    XML_StopParser(parser, XML_Bool(XML_FALSE))
  }

  private func start(_ qualifiedName: String) {
    guard problem == nil else { return }
    guard open.count < XMLReader.depthLimit else { return stop(.tooDeep) }
    guard elements < XMLReader.elementLimit else { return stop(.tooManyElements) }
    elements += 1
    let name = qualifiedName.utf8.lastIndex(of: UInt8(ascii: ":")).map {
      String(qualifiedName[qualifiedName.utf8.index(after: $0)...])
    }
    open.append(Open(name: name ?? qualifiedName))
  }

  private func append(_ text: UnsafeRawBufferPointer) {
    guard problem == nil, !open.isEmpty, open[open.count - 1].children.isEmpty else { return }
    open[open.count - 1].text.append(contentsOf: text)
  }

  private func end() {
    guard problem == nil, let last = open.popLast() else { return }
    let text = last.children.isEmpty ? Self.trimmed(last.text) : nil
    let element = XMLValue(name: last.name, text: text, children: last.children)
    if open.isEmpty { root = element } else { open[open.count - 1].children.append(element) }
  }

  /// The text without the whitespace of XML 1.0 §2.3 around it.
  private static func trimmed(_ text: [UInt8]) -> String {
    func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D }
    let start = text.firstIndex { !isSpace($0) } ?? text.endIndex
    let end = text.lastIndex { !isSpace($0) }.map { $0 + 1 } ?? start
    return String(decoding: text[start..<end], as: UTF8.self)
  }
}
