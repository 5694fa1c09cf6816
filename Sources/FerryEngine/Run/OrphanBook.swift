import FerryJournal
import FerryManifest
import FerryPlan

/// What the release of upload IDs that will not be used needs: their captures and files.
struct OrphanBook {
  struct Entry {
    var file: FileValues
    var values: ItemValues
  }

  private var entries: [Place: Entry] = [:]
  /// By node with `abandon`: the captures of `allocate` that this refers to, which are what the server knows an ID by.
  private let names: [Int: [String]]
  /// By node: orphans by the values of these captures.
  private var identities: [Int: [[String?]: [Int]]] = [:]

  init(_ plan: Plan) {
    var names: [Int: [String]] = [:]
    for (index, node) in plan.nodes.enumerated() {
      if case .upload(let work) = node.work, let abandon = work.abandon {
        names[index] = abandon.capturesOfAllocate
      }
    }
    self.names = names
  }

  subscript(place: Place) -> Entry? { place.orphan == nil ? nil : entries[place] }

  /// One that is not released, as no manifest says how, is not kept: then it returns false.
  @discardableResult
  mutating func add(_ entry: Entry, as place: Place) -> Bool {
    guard let names = names[place.node.index], let orphan = place.orphan else { return false }
    entries[place] = entry
    let identity = Self.identity(names, entry.values.allocate)
    identities[place.node.index, default: [:]][identity, default: []].append(orphan)
    return true
  }

  mutating func add(_ row: OrphanRow, as place: Place) {
    let file = FileValues(
      path: row.path, size: row.size, modified: row.modified,
      sha256: row.sha256.map { Hexadecimal.text($0) })
    add(Entry(file: file, values: ItemValues(journaled: row.captures, sha256: row.sha256)), as: place)
  }

  mutating func forget(_ place: Place) {
    guard let entry = entries.removeValue(forKey: place), let names = names[place.node.index] else { return }
    let identity = Self.identity(names, entry.values.allocate)
    identities[place.node.index]?[identity]?.removeAll { $0 == place.orphan }
  }

  /// Orphans of the node that stand for an ID which the server has now given out again.
  func regained(by captures: [CapturedValue], of node: NodeID) -> [Int] {
    guard let names = names[node.index], !names.isEmpty, let known = identities[node.index] else {
      return []
    }
    return known[Self.identity(names, captures)] ?? []
  }

  private static func identity(_ names: [String], _ captures: [CapturedValue]) -> [String?] {
    names.map { name in captures.first { $0.name == name }?.value }
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
