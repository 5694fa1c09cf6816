import FerryDigest
import FerryManifest
import FerryPlan
import Foundation

/// Reads the list of a download batch: the URL of each document, and the file in which it is stored.
struct ItemListReader {
  private let items: DownloadItems
  /// The fields to which the request for an item refers.
  private let fields: [String]
  /// The path of the list, relative to the manifest's folder; `nil` if the manifest contains the list.
  private let list: [UInt8]?
  /// The paths of the state folder relative to the manifest's folder; empty if it is elsewhere.
  private let stateFolders: [[UInt8]]
  /// The keys of further files that cannot be replaced.
  private let reserved: ReservedPaths
  private let filter: ShardFilter?
  private let isStopped: () -> Bool
  /// The folder at the beginning of `save_to`, and the rest of `save_to`.
  private let target: (folder: String, rest: Template)

  private var found: [Found] = []
  /// The first item with each path. Paths are compared without regard to case and to the composition of characters.
  private var places: [String: Int] = [:]
  private var problems = ListingProblems()

  private struct Found {
    /// The place in the list, for messages.
    var place: String
    var path: [UInt8]
    /// The path as file systems that do not distinguish case compare it.
    var key: String
    var size: Int64
    var version: Int64
    var origin: Origin?
    var values: [String?]
    /// The reason why the item and another one cannot both be stored.
    var conflict: String?
  }

  /// The reason why an element is not an item.
  private struct Refusal: Error {
    var message: String
  }

  init(
    _ items: DownloadItems, fields: [String], stateFolders: [[UInt8]], reserved: ReservedPaths,
    filter: ShardFilter?, isStopped: @escaping () -> Bool
  ) {
    self.items = items
    self.fields = fields
    self.stateFolders = stateFolders
    self.reserved = reserved
    self.filter = filter
    self.isStopped = isStopped
    target = Self.target(items.saveTo)
    if case .file(let name, _) = items.source {
      list = FileLister.plain(Array(name.utf8))
    } else {
      list = nil
    }
  }

  /// The maximum length of a URL in bytes. The journal keeps the URLs of downloads.
  private static let longestURL = 64 << 10
  private static let longURL = "its URL is longer than \(longestURL) bytes"

  /// The number of elements between two checks of whether the run was stopped.
  private static let interval = 256

  /// - Throws: `ListingFailure` if the list is not of the expected form.
  mutating func read(_ bytes: [UInt8]?) throws(ListingFailure) -> (Listing, ListedItems.Contents) {
    switch items.source {
    case .written(let written):
      for (index, item) in written.enumerated() {
        if isInterrupted(index) { break }
        take(.written(item), at: "item \(index + 1)")
      }
    case .file(_, let pointer), .fetch(_, let pointer):
      if let pointer {
        let elements = try array(in: bytes ?? [], at: pointer)
        for (index, element) in elements.enumerated() {
          if isInterrupted(index) { break }
          take(Self.element(element), at: "\(pointer)/\(index)")
        }
      } else {
        readLines(bytes ?? [])
      }
    }
    findNestedTargets()
    return sorted()
  }

  private func isInterrupted(_ index: Int) -> Bool { index % Self.interval == 0 && isStopped() }

  private mutating func readLines(_ bytes: [UInt8]) {
    // Some programs begin a text file with a byte order mark.
    var (start, number) = (bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0, 0)
    while start < bytes.count, !isInterrupted(number) {
      number += 1
      let end = bytes[start...].firstIndex(of: 0x0A) ?? bytes.endIndex
      let line = bytes[start..<end].drop { $0 == 0x20 || $0 == 0x09 }
      let trimmed = line.dropLast(line.reversed().prefix { $0 <= 0x20 }.count)
      start = end + 1
      guard let first = trimmed.first, first != UInt8(ascii: "#") else { continue }
      guard trimmed.count <= Self.longestURL else {
        report("line \(number)", Self.longURL)
        continue
      }
      guard let url = String(validating: trimmed, as: UTF8.self) else {
        report("line \(number)", "it is not UTF-8")
        continue
      }
      take(.url(url), at: "line \(number)")
    }
  }

  private func array(in bytes: [UInt8], at pointer: String) throws(ListingFailure) -> [JSONValue] {
    let value: JSONValue
    do throws(JSONProblem) {
      value = try JSONParser.parse(bytes, valueLimit: JSONParser.listValueLimit)
    } catch {
      throw unreadable(Self.text(error))
    }
    guard case .array(let elements)? = value.value(at: pointer) else {
      let place = pointer.isEmpty ? "the document" : "the value at '\(pointer)'"
      throw unreadable("\(place) is not an array")
    }
    return elements
  }

  private func unreadable(_ reason: String) -> ListingFailure {
    let name = list.map { " \(FileLister.text($0))" } ?? ""
    return ListingFailure(message: "cannot read the list\(name): \(reason)")
  }

  private static func text(_ problem: JSONProblem) -> String {
    switch problem {
    case .malformed: "it is not JSON"
    case .tooDeep: "it is nested more than \(JSONParser.depthLimit) levels deep"
    case .tooManyValues: "it contains more than \(JSONParser.listValueLimit) values"
    }
  }

  private static func element(_ value: JSONValue) -> ListElement {
    switch value {
    case .string(let url): .url(url)
    case .object(let members): .object(members)
    case .null, .bool, .number, .array: .unusable
    }
  }

  private mutating func take(_ element: ListElement, at place: String) {
    do throws(Refusal) {
      add(try item(element, at: place))
    } catch {
      report(place, error.message)
    }
  }

  /// Adds a problem. If the manifest is divided, one shard reports it.
  private mutating func report(_ place: String, _ message: String) {
    guard filter?.contains(place.utf8) ?? true else { return }
    problems.append(ListingProblem(path: Array(place.utf8), kind: .other, message: message))
  }

  /// Adds an item, unless it equals an earlier item.
  private mutating func add(_ item: Found) {
    guard let other = places[item.key] else {
      places[item.key] = found.count
      found.append(item)
      return
    }
    if found[other].path == item.path, found[other].version == item.version, found[other].size == item.size {
      return
    }
    let isEqual = found[other].path == item.path
    func conflict(_ own: Found, _ other: Found) -> String {
      let path = DisplayPath.shown(own.path)
      return isEqual
        ? "its file \(path) is also the file of \(other.place)"
        : "its file \(path) differs only in case from that of \(other.place)"
    }
    found[other].conflict = found[other].conflict ?? conflict(found[other], item)
    found.append(item)
    found[found.count - 1].conflict = conflict(item, found[other])
  }

  /// Some file systems do not distinguish names by case or by the composition of their characters.
  static func key(_ path: some Collection<UInt8>) -> String {
    let text = String(decoding: path, as: UTF8.self).lowercased()
    return text.utf8.allSatisfy { $0 < 0x80 } ? text : text.decomposedStringWithCanonicalMapping
  }

  /// Finds items whose file is also a folder in another item's path.
  ///
  /// The time is linear in the size of the list: the hash of each folder continues that of the folder above it.
  private mutating func findNestedTargets() {
    var files = Set<Int>(minimumCapacity: found.count)
    for item in found {
      var hasher = Hasher()
      for byte in item.key.utf8 { hasher.combine(byte) }
      files.insert(hasher.finalize())
    }
    for index in found.indices where !isInterrupted(index) {
      guard let other = fileAbove(index, files) else { continue }
      let folder = DisplayPath.shown(found[other].path)
      found[index].conflict =
        found[index].conflict ?? "its folder \(folder) is also the file of \(found[other].place)"
      found[other].conflict =
        found[other].conflict ?? "its file \(folder) is also a folder of \(found[index].place)"
    }
  }

  /// The first item, from the root downwards, whose file is also a folder in the path of the item at `index`. The files
  /// of all other such items are below that file.
  ///
  /// - Parameter files: the hashes of the keys of all items.
  private func fileAbove(_ index: Int, _ files: Set<Int>) -> Int? {
    let key = Array(found[index].key.utf8)
    var hasher = Hasher()
    for (position, byte) in key.enumerated() {
      if byte == UInt8(ascii: "/"), files.contains(hasher.finalized),
        let other = places[String(decoding: key[..<position], as: UTF8.self)]
      {
        return other
      }
      hasher.combine(byte)
    }
    return nil
  }

  private mutating func sorted() -> (Listing, ListedItems.Contents) {
    for item in found {
      guard let conflict = item.conflict else { continue }
      report(item.place, "\(conflict); neither is downloaded")
    }
    // Items of different shards can be in conflict too, so the shard's items are selected only now.
    found.removeAll { $0.conflict != nil || !(filter?.contains($0.path) ?? true) }
    if !found.sort(unless: isStopped, by: { $0.path.lexicographicallyPrecedes($1.path) }) { found = [] }
    var contents = ListedItems.Contents()
    contents.fields = fields
    contents.values = fields.indices.map { column in found.map { $0.values[column] } }
    contents.origins = found.map(\.origin)
    for item in found {
      contents.files.append(path: item.path, size: item.size, modified: item.version)
    }
    return (Listing(files: contents.files, problems: problems), contents)
  }

  /// The files of the items in the manifest. An item that is refused has no file.
  static func files(ofItemsInManifest items: DownloadItems) -> [[UInt8]] {
    guard case .written(let written) = items.source else { return [] }
    let reader = Self(
      items, fields: [], stateFolders: [], reserved: ReservedPaths(), filter: nil, isStopped: { false })
    return written.compactMap { item in
      do throws(Refusal) { return try reader.path(.written(item)) } catch { return nil }
    }
  }

  // MARK: One element

  private func item(_ element: ListElement, at place: String) throws(Refusal) -> Found {
    if case .unusable = element { throw Refusal(message: "it is neither a URL nor an object") }
    let path = try path(element)
    let key = Self.key(path)
    if let refusal = reserved.refusal(of: key) { throw Refusal(message: refusal) }
    let size = try optional(items.size, element).map { text throws(Refusal) in
      guard let size = Int64(text), size >= 0 else {
        throw Refusal(message: "its size is not a number of bytes")
      }
      return size
    }
    let digest = try optional(items.sha256, element).map { text throws(Refusal) in
      guard text.utf8.count == 64, text.utf8.allSatisfy({ Hexadecimal.value($0) != nil }) else {
        throw Refusal(message: "its SHA-256 digest does not consist of 64 hexadecimal digits")
      }
      return text.lowercased()
    }
    var values: [String?] = []
    for field in fields {
      switch element.value(of: field) {
      case .text(let text): values.append(text)
      case .absent: values.append(nil)
      case .unusable: throw Refusal(message: "its '\(field)' is an array or an object")
      }
    }
    let url = try text(items.url, element, isURL: true)
    guard url.utf8.count <= Self.longestURL else { throw Refusal(message: Self.longURL) }
    let isKnown = items.url.references.allSatisfy(\.isOfItem)
    if isKnown, URLPart.authority(of: url)?.isEmpty ?? true {
      throw Refusal(message: "its URL does not begin with http:// or https:// and a host")
    }
    return Found(
      place: place, path: path, key: key, size: size ?? FileColumns.unknownSize,
      version: version(url: url, digest, values), origin: isKnown ? Origin(url: url) : nil, values: values)
  }

  /// Identifies the version of a document. If the list states a digest, only the digest counts, because a server may
  /// sign each URL again for each list.
  private func version(url: String, _ digest: String?, _ values: [String?]) -> Int64 {
    let text =
      digest.map { "sha256 \($0)" }
      ?? "url \(url)\n" + zip(fields, values).map { "\($0) \($1 ?? "")\n" }.joined()
    let bytes = SHA256.hash(text.utf8).prefix(8)
    return Int64(bitPattern: bytes.reduce(0) { $0 << 8 | UInt64($1) })
  }

  private func path(_ element: ListElement) throws(Refusal) -> [UInt8] {
    let rest = try text(target.rest, element)
    let path: [UInt8]
    do throws(TargetPath.Refusal) {
      path = try TargetPath(folder: target.folder, rest: rest).bytes
    } catch {
      throw Refusal(message: error.message)
    }
    if path == list { throw Refusal(message: "its file is the list itself") }
    if stateFolders.contains(where: { FileLister.isInside(path, $0) }) {
      throw Refusal(message: "its file is in ferry's state folder")
    }
    return path
  }

  /// The value of a template; `nil` if there is no template, or if the template is a single reference to a field that
  /// the element does not have.
  private func optional(_ template: Template?, _ element: ListElement) throws(Refusal) -> String? {
    guard let template else { return nil }
    if template.segments.count == 1, case .reference(.item(let field), _) = template.segments[0],
      case .absent = element.value(of: field)
    {
      return nil
    }
    return try text(template, element)
  }

  /// - Parameter isURL: whether references to values outside the list remain as they are written.
  private func text(
    _ template: Template, _ element: ListElement, isURL: Bool = false
  ) throws(Refusal) -> String {
    var text = ""
    for segment in template.segments {
      switch segment {
      case .literal(let part), .value(let part): text += part
      case .reference(.item(let field), let filters):
        switch element.value(of: field) {
        case .text(let value):
          guard let bytes = try? filters.apply(to: Array(value.utf8)) else {
            throw Refusal(message: "a filter cannot be applied to its '\(field)'")  // Values are UTF-8.
          }
          text += String(decoding: bytes, as: UTF8.self)
        case .absent: throw Refusal(message: "it has no '\(field)'")
        case .unusable: throw Refusal(message: "its '\(field)' is an array or an object")
        }
      case .reference(let reference, let filters): text += reference.description(with: filters)
      }
    }
    return text
  }

  /// Divides `save_to` after the last slash before its first reference.
  static func target(_ template: Template) -> (folder: String, rest: Template) {
    var segments = template.segments[...]
    var start = ""
    while let segment = segments.first {
      switch segment {
      case .literal(let text), .value(let text): start += text
      case .reference:
        let folder = start.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(start.utf8[...$0]) ?? "" } ?? ""
        let name = String(start.utf8.dropFirst(folder.utf8.count)) ?? ""
        return (folder, Template((name.isEmpty ? [] : [.literal(name)]) + Array(segments)))
      }
      segments.removeFirst()
    }
    return ("", template)
  }
}

extension Hasher {
  /// The hash of what was combined so far.
  fileprivate var finalized: Int {
    let copy = self
    return copy.finalize()
  }
}

extension Reference {
  /// Whether the list determines the value.
  fileprivate var isOfItem: Bool {
    switch self {
    case .item: true
    case .secret, .file, .token, .allocate, .transfer, .request, .run: false
    }
  }
}
