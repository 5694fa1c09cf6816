import FerryJournal
import FerryManifest
import FerryPlan

/// The captures and files needed to release upload IDs that will not be used.
struct OrphanedUploadIndex {
  struct Entry {
    var file: FileValues
    var values: ItemValues
  }

  private var entries: [ItemRef: Entry] = [:]
  /// How the server identifies an upload ID, according to its release request.
  private enum Identity {
    /// The captures of `allocate` that the request refers to.
    case captures([String])
    /// The request refers to no capture: the file identifies the upload ID.
    case file

    /// Returns bytes, because names with different bytes may be equal as strings.
    func values(_ captures: [CapturedValue], path: [UInt8]) -> [[UInt8]?] {
      switch self {
      case .captures(let names):
        names.map { name in captures.first { $0.name == name }.map { Array($0.value.utf8) } }
      case .file: [path]
      }
    }
  }

  /// By node; only nodes with `abandon`.
  private let identities: [Int: Identity]
  /// The orphans with the same identity values, by node.
  private var orphans: [Int: [[[UInt8]?]: [Int]]] = [:]

  init(_ plan: Plan) {
    var identities: [Int: Identity] = [:]
    for (index, node) in plan.nodes.enumerated() {
      if case .upload(let work) = node.work, let abandon = work.abandon {
        let captures = abandon.capturesOfAllocate
        identities[index] = captures.isEmpty ? .file : .captures(captures)
      }
    }
    self.identities = identities
  }

  subscript(ref: ItemRef) -> Entry? { ref.orphan == nil ? nil : entries[ref] }

  /// Adds an orphan. If no manifest specifies how to release it, it is not kept, and the result is `false`.
  @discardableResult
  mutating func add(_ entry: Entry, as ref: ItemRef) -> Bool {
    guard let identity = identities[ref.node.index], let orphan = ref.orphan else { return false }
    entries[ref] = entry
    let values = identity.values(entry.values.allocate, path: entry.file.path)
    orphans[ref.node.index, default: [:]][values, default: []].append(orphan)
    return true
  }

  mutating func add(_ row: OrphanRow, as ref: ItemRef) {
    let file = FileValues(
      path: row.path, size: row.size, modified: row.modified,
      sha256: row.sha256.map { Hexadecimal.text($0) })
    add(Entry(file: file, values: ItemValues(journaled: row.captures, sha256: row.sha256)), as: ref)
  }

  mutating func forget(_ ref: ItemRef) {
    guard let entry = entries.removeValue(forKey: ref), let identity = identities[ref.node.index] else {
      return
    }
    let values = identity.values(entry.values.allocate, path: entry.file.path)
    orphans[ref.node.index]?[values]?.removeAll { $0 == ref.orphan }
  }

  /// The values by which the server identifies an item's upload ID; `nil` if the ID is not released or if the item's
  /// file identifies it.
  func identity(of captures: [CapturedValue], _ node: NodeID) -> [[UInt8]?]? {
    guard let identity = identities[node.index] else { return nil }
    switch identity {
    case .file: return nil
    case .captures: return identity.values(captures, path: [])
    }
  }

  /// The node's orphans whose upload ID the server has now allocated again.
  ///
  /// - Parameters:
  ///   - captures: of `allocate`.
  ///   - path: the bytes of the path of the file that the ID was allocated for.
  func regained(by captures: [CapturedValue], path: [UInt8], of node: NodeID) -> [Int] {
    guard let identity = identities[node.index], let known = orphans[node.index] else { return [] }
    return known[identity.values(captures, path: path)] ?? []
  }
}

extension Step {
  /// The captures of `allocate` that the step's request refers to.
  var capturesOfAllocate: [String] {
    request.references.compactMap { reference in
      switch reference {
      case .allocate(let capture): capture
      case .secret, .file, .token, .transfer, .request, .run: nil
      }
    }
  }

  /// A capture that the step's request refers to and that an upload ID of an earlier run lacks, as written in the
  /// manifest.
  func lackedCapture(of orphan: OrphanRow) -> String? {
    let captured = Set(orphan.captures.map(\.name))
    for reference in request.references {
      switch reference {
      case .allocate(let name) where !captured.contains("allocate.\(name)"): return "${allocate.\(name)}"
      case .transfer(let name) where !captured.contains("transfer.\(name)"): return "${transfer.\(name)}"
      case .allocate, .transfer, .secret, .file, .token, .request, .run: break
      }
    }
    return nil
  }
}
