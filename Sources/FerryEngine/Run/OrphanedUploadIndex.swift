import FerryJournal
import FerryManifest
import FerryPlan

/// What the release of upload IDs that will not be used needs: their captures and files.
struct OrphanedUploadIndex {
  struct Entry {
    var file: FileValues
    var values: ItemValues
  }

  private var entries: [ItemRef: Entry] = [:]
  /// What the server knows an upload ID by, as its release says it.
  private enum Identity {
    /// The captures of `allocate` that the request refers to.
    case captures([String])
    /// It refers to none: the file.
    case file

    /// Bytes, as names may differ in these that are equal as text.
    func values(_ captures: [CapturedValue], path: [UInt8]) -> [[UInt8]?] {
      switch self {
      case .captures(let names):
        names.map { name in captures.first { $0.name == name }.map { Array($0.value.utf8) } }
      case .file: [path]
      }
    }
  }

  /// By node with `abandon`.
  private let identities: [Int: Identity]
  /// By node: orphans by the values of its identity.
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

  /// One that is not released, as no manifest says how, is not kept: then it returns false.
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

  /// What the server knows an item's upload ID by; `nil` if it is not released, or if it is known by the item's file.
  func identity(of captures: [CapturedValue], _ node: NodeID) -> [[UInt8]?]? {
    guard let identity = identities[node.index] else { return nil }
    switch identity {
    case .file: return nil
    case .captures: return identity.values(captures, path: [])
    }
  }

  /// Orphans of the node that stand for an ID which the server has now given out again.
  ///
  /// - Parameters:
  ///   - captures: of `allocate`.
  ///   - path: the bytes of the path of the file that it is given for.
  func regained(by captures: [CapturedValue], path: [UInt8], of node: NodeID) -> [Int] {
    guard let identity = identities[node.index], let known = orphans[node.index] else { return [] }
    return known[identity.values(captures, path: path)] ?? []
  }
}

extension Step {
  /// The captures of `allocate` that its request refers to.
  var capturesOfAllocate: [String] {
    request.references.compactMap { reference in
      switch reference {
      case .allocate(let capture): capture
      case .secret, .file, .token, .transfer, .request, .run: nil
      }
    }
  }

  /// A capture that its request refers to and an upload ID of an earlier run does not have, as the manifest writes it.
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
