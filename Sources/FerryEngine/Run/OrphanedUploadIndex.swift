import FerryDigest
import FerryJournal
import FerryManifest
import FerryPlan

/// The captures and files needed to release upload IDs that will not be used.
struct OrphanedUploadIndex {
  struct Entry {
    var file: FileValues
    var values: ItemValues
  }

  /// A value that identifies an upload ID to a server. Values are compared as bytes, because values with
  /// different bytes may be equal as strings.
  private enum Mark: Hashable {
    case captured([UInt8])
    /// The release request does not refer to captures: the file identifies the upload ID.
    case file(path: [UInt8], NodeID)
  }

  private var entries: [ItemRef: Entry] = [:]
  /// For each upload with `abandon`, by node: the values that identify its upload IDs.
  private let identities: [Int: UploadIDIdentity]
  /// Each orphan, indexed by one of the marks of its ID, so that a response's values can be matched without a
  /// search of all orphans.
  private var orphans: [Mark: [ItemRef]] = [:]

  init(_ plan: Plan) {
    var identities: [Int: UploadIDIdentity] = [:]
    for (index, node) in plan.nodes.enumerated() {
      guard case .upload(let work) = node.work, let abandon = work.abandon else { continue }
      identities[index] = UploadIDIdentity(abandon)
    }
    self.identities = identities
  }

  subscript(ref: ItemRef) -> Entry? { ref.orphan == nil ? nil : entries[ref] }

  /// Adds an orphan. If the manifest does not specify a release request for it, returns `false` without adding the
  /// orphan.
  @discardableResult
  mutating func add(_ entry: Entry, as ref: ItemRef) -> Bool {
    guard ref.orphan != nil, let marks = marks(of: entry, ref.node) else { return false }
    entries[ref] = entry
    if identity(of: entry.values, ref.node).areResources {
      for mark in marks { orphans[mark, default: []].append(ref) }
      return true
    }
    // Use the mark with the fewest other orphans. For example, all IDs may share the name of one bucket.
    guard let rarest = marks.min(by: { (orphans[$0]?.count ?? 0) < (orphans[$1]?.count ?? 0) }) else {
      return true
    }
    orphans[rarest, default: []].append(ref)
    return true
  }

  mutating func add(_ row: OrphanRow, as ref: ItemRef) {
    let file = FileValues(
      path: row.path, size: row.size, modified: row.modified,
      sha256: row.sha256.map { Hexadecimal.text($0) })
    add(Entry(file: file, values: ItemValues(row)), as: ref)
  }

  mutating func forget(_ ref: ItemRef) {
    guard let entry = entries.removeValue(forKey: ref) else { return }
    for mark in marks(of: entry, ref.node) ?? [] where orphans[mark]?.contains(ref) == true {
      orphans[mark]?.removeAll { $0 == ref }
      if orphans[mark]?.isEmpty == true { orphans[mark] = nil }
    }
  }

  /// The values that identify an upload ID to the server; empty if the ID is not released, or if the file
  /// identifies it.
  func identity(of values: ItemValues, _ node: NodeID) -> [CapturedValue] {
    identities[node.index]?.values(values) ?? []
  }

  /// The orphans whose upload ID an item has received, according to the item's captures.
  ///
  /// - Parameter path: the bytes of the path of the item's file.
  func regained(by values: ItemValues, path: [UInt8], of node: NodeID) -> [ItemRef] {
    guard !orphans.isEmpty else { return [] }
    var marks = Set((values.allocate + values.transfer).map(Self.mark))
    marks.insert(.file(path: path, node))
    let candidates = Set(marks.flatMap { orphans[$0] ?? [] })
    return candidates.sorted { ($0.node.index, $0.orphan ?? 0) < ($1.node.index, $1.orphan ?? 0) }.filter {
      ref in
      guard let entry = entries[ref], let required = self.marks(of: entry, ref.node) else { return false }
      return identity(of: entry.values, ref.node).areResources || marks.isSuperset(of: required)
    }
  }

  /// The servers that the orphan belongs to.
  func servers(of ref: ItemRef) -> BoundServers? { entries[ref]?.values.servers }

  private func marks(of entry: Entry, _ node: NodeID) -> Set<Mark>? {
    guard let identity = identities[node.index] else { return nil }
    let values = identity.values(entry.values)
    return values.isEmpty ? [.file(path: entry.file.path, node)] : Set(values.map(Self.mark))
  }

  private static func mark(_ capture: CapturedValue) -> Mark { .captured(Array(capture.value.utf8)) }
}

/// Identifies an upload ID to a server by the captures that the release request refers to. Captures of
/// `transfer` are used only if there are none of `allocate`.
struct UploadIDIdentity {
  private let allocate: Set<String>
  private let transfer: Set<String>

  init(_ abandon: Step) {
    var allocate: Set<String> = []
    var transfer: Set<String> = []
    for reference in abandon.request.references {
      switch reference {
      case .allocate(let capture): allocate.insert(capture)
      case .transfer(let capture): transfer.insert(capture)
      case .secret, .file, .item, .token, .request, .run: break
      }
    }
    self.allocate = allocate
    self.transfer = transfer
  }

  /// The number of values of an ID.
  var count: Int { allocate.isEmpty ? transfer.count : allocate.count }

  func values(_ known: ItemValues) -> [CapturedValue] {
    allocate.isEmpty
      ? known.transfer.filter { transfer.contains($0.name) }
      : known.allocate.filter { allocate.contains(UploadResource.name($0.name)) }
  }
}

/// The captures with the URLs of the upload resources that a server has assigned to a file.
enum UploadResource {
  /// The name of the capture with the URL of a resource.
  ///
  /// - Parameter number: counted from 1. The partial uploads of one file are several resources.
  static func capture(_ number: Int) -> String {
    number == 1 ? Resumable.resourceCapture : "\(Resumable.resourceCapture)_\(number)"
  }

  /// The name of the capture that stands for all resources of a file; any other capture's name is returned unchanged.
  static func name(_ capture: String) -> String {
    isFurther(capture) ? Resumable.resourceCapture : capture
  }

  /// Whether a capture contains the URL of a resource other than the first.
  private static func isFurther(_ capture: String) -> Bool {
    let prefix = "\(Resumable.resourceCapture)_"
    return capture.hasPrefix(prefix) && Int(capture.dropFirst(prefix.count)) != nil
  }
}

extension [CapturedValue] {
  /// Whether these values are the URLs of several resources, each of which is sufficient to identify the upload.
  var areResources: Bool {
    count > 1 && allSatisfy { UploadResource.name($0.name) == Resumable.resourceCapture }
  }
}

extension Step {
  /// A capture that the step's request refers to but that an upload ID of an earlier run lacks, as written
  /// in the manifest.
  func lackedCapture(of orphan: OrphanRow) -> String? {
    let captured = Set(orphan.captures.map(\.name))
    for reference in request.references {
      switch reference {
      case .allocate(let name) where !captured.contains("allocate.\(name)"): return "${allocate.\(name)}"
      case .transfer(let name) where !captured.contains("transfer.\(name)"): return "${transfer.\(name)}"
      case .allocate, .transfer, .secret, .file, .item, .token, .request, .run: break
      }
    }
    return nil
  }
}
