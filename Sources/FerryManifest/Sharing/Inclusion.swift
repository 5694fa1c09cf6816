/// Merges a manifest and the files that it includes into one document.
///
/// Sections are merged name by name. If two files define the same name, an error reports both locations;
/// nothing is overridden silently.
struct Inclusion {
  /// The maximum depth of nested includes.
  static let deepest = 20
  static let mostFiles = 100

  private(set) var diagnostics: [Diagnostic] = []
  /// The included sources, in the order in which they are named.
  private(set) var sources: [SourceText] = []
  /// Whether a file could not be read or parsed. The names that it would have declared are unknown.
  private(set) var isBroken = false

  private let files: ManifestFiles
  /// The files being read, outermost first.
  private var underway: [(path: String, identity: ManifestFiles.Identity)]
  private var known: Set<ManifestFiles.Identity>
  /// The number of bytes that may still be read.
  private var budget: Int

  init(_ main: SourceText, files: ManifestFiles) {
    self.files = files
    let path = ManifestFiles.path(main.file, from: "")
    let identity = files.identity(path)
    underway = [(path, identity)]
    known = [identity]
    budget = SourceText.largest - main.bytes.count
  }

  /// Merges the document with all its includes. The `include` key of the result also lists the nested
  /// includes.
  mutating func unite(_ root: YAMLNode) -> YAMLNode {
    guard let members = root.members, let list = root["include"]?.elements else { return root }
    var united = United(members.filter { $0.key.value != "include" })
    var includes = list
    for element in list {
      // An element that is not a path is reported when the list is read.
      guard let path = Self.path(element) else {
        isBroken = true
        continue
      }
      guard let document = load(path, at: element.location)
      else { continue }
      let whole = unite(document)
      underway.removeLast()
      includes += whole["include"]?.elements ?? []
      united.add(whole.members ?? [], &diagnostics)
    }
    var node = root
    let own = members.first { $0.key.value == "include" }
    node.content = .mapping(
      united.members
        + (own.map { own in
          var value = own.value
          value.content = .sequence(includes)
          return [YAMLNode.Member(key: own.key, value: value)]
        } ?? []))
    return node
  }

  private static func path(_ node: YAMLNode) -> String? {
    guard let text = node.scalar?.text, !node.isNull, !text.isEmpty,
      text.unicodeScalars.allSatisfy({ $0.properties.generalCategory != .control })
    else { return nil }
    return text
  }

  /// Reads one file and records it. Nil if it cannot be read, or has already been included.
  private mutating func load(_ path: String, at location: SourceLocation) -> YAMLNode? {
    let file = ManifestFiles.path(path, from: location.file)
    let identity = files.identity(file)
    if let start = underway.firstIndex(where: { $0.identity == identity }) {
      let circle = (underway[start...].map(\.path) + [file]).map(\.clipped).joined(separator: " → ")
      refuse(
        .includeCycle, at: location, "these files include each other: \(circle)",
        help: "remove one of these includes")
      return nil
    }
    // A file that two files include is added only once, even under different names.
    guard !known.contains(identity) else { return nil }
    guard underway.count <= Self.deepest, known.count <= Self.mostFiles else {
      refuse(
        .includesTooDeep, at: location,
        "includes can be nested at most \(Self.deepest) levels deep, with at most \(Self.mostFiles) files in total",
        help: "include the files from the manifest itself, or merge some of them")
      return nil
    }
    known.insert(identity)
    let bytes: [UInt8]
    do {
      bytes = try files.read(file)
    } catch {
      refuse(
        .unreadableInclude, at: location, "\(path.quoted) cannot be read: \(error.reason)",
        help: path.contains("${")
          ? "includes are read before references are resolved; write a literal path"
          : PathLetters(path).isAbsolute || PathLetters(path).isOfHome
            ? "specify a readable file" : "the path is relative to the folder of \(location.file)")
      return nil
    }
    budget -= bytes.count
    guard budget >= 0 else {
      refuse(
        .manifestTooLarge, at: location, "the manifest and its includes are larger than 64 MiB",
        help: "list the files in a `list:` file instead")
      return nil
    }
    let source = SourceText(bytes, file: file)
    sources.append(source)
    let document = YAMLDocument(source)
    diagnostics += document.diagnostics.map { diagnostic in
      guard diagnostic.code == .emptyManifest else { return diagnostic }
      return Diagnostic(
        .emptyManifest, at: diagnostic.location, "the included file is empty",
        help: "add manifest keys such as 'sessions:', or remove the include",
        notes: [.init("included here", at: location)])
    }
    guard let root = document.root, root.members != nil else {
      if let root = document.root {
        refuse(
          .wrongType, at: root.location, "an included file must be a mapping, found \(root.kindName)",
          help: "write manifest keys such as 'sessions:'")
      }
      isBroken = true
      return nil
    }
    underway.append((file, identity))
    return root
  }

  private mutating func refuse(
    _ code: DiagnosticCode, at location: SourceLocation, _ message: String, help: String
  ) {
    diagnostics.append(Diagnostic(code, at: location, message, help: help))
    isBroken = true
  }
}

/// Mappings of several files, merged into one.
private struct United {
  private(set) var members: [YAMLNode.Member]
  private var places: [String: Int]

  init(_ members: [YAMLNode.Member]) {
    self.members = members
    places = Dictionary(
      members.enumerated().map { ($0.element.key.value, $0.offset) }, uniquingKeysWith: { first, _ in first })
  }

  /// Adds the definitions of another file. Both files may state the same version.
  mutating func add(_ others: [YAMLNode.Member], _ diagnostics: inout [Diagnostic]) {
    for other in others where other.key.value != "include" {
      let isVersion = other.key.value == "version" && other.value.scalar?.value == .integer(1)
      add(other, depth: other.key.value == "defaults" ? 2 : 1, isClash: !isVersion, &diagnostics)
    }
  }

  /// Adds a member, or merges it with the member of the same name.
  ///
  /// - Parameter depth: the number of mapping levels to merge. A conflict is reported at the level below.
  private mutating func add(
    _ other: YAMLNode.Member, depth: Int, isClash: Bool, _ diagnostics: inout [Diagnostic]
  ) {
    guard let place = places[other.key.value] else {
      places[other.key.value] = members.count
      members.append(other)
      return
    }
    if depth > 0, let own = members[place].value.members, let new = other.value.members {
      var inner = United(own)
      for member in new { inner.add(member, depth: depth - 1, isClash: true, &diagnostics) }
      members[place].value.content = .mapping(inner.members)
    } else if isClash {
      // In the document, the manifest's own text comes after the sources that it includes.
      diagnostics.append(
        Diagnostic(
          .includeClash, at: members[place].key.location, "\(other.key.value.quoted) is defined in two files",
          help: "included definitions cannot be overridden; rename or remove one of the two",
          notes: [.init("also defined here", at: other.key.location)]))
    }
  }
}
