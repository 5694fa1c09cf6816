import FerryJournal
import FerryManifest
import FerryPlan

extension Job {
  /// The listers of the uploads' files, by node.
  ///
  /// - Parameters:
  ///   - state: the state folder of the command. The files of the whole state folder are not listed.
  ///   - files: the files that the command line names.
  func listers(
    environment: [String: String], state: StateDirectory, files: [String] = []
  ) throws -> [Int: FileLister] {
    let paths = try RunPaths([self], environment: environment, state: state, files: files)
    return try listers(environment: environment, state: state, paths: paths)
  }

  /// - Parameter paths: the paths of all jobs of the run.
  func listers(
    environment: [String: String], state: StateDirectory, paths: RunPaths
  ) throws -> [Int: FileLister] {
    let stateFolder = try StateFolder(of: state)
    let shard = part?.shard
    let reserved = paths.reserved(for: self)
    var listers: [Int: FileLister] = [:]
    for (index, node) in plan.nodes.enumerated() {
      guard case .upload(let work) = node.work else { continue }
      var lister = try FileLister(
        work.files, after: work.after, baseFolder: folder, home: environment["HOME"])
      lister.stateFolder = stateFolder
      lister.requestFields = work.itemFields
      paths.describeList(of: work, self, to: &lister)
      if case .items(let items) = work.files.source, items.isListed { lister.reserved = reserved }
      lister.filter = shard.map { ShardFilter($0, upload: node.name) }
      listers[index] = lister
    }
    return listers
  }
}

extension DownloadItems {
  /// Whether a file lists the items. Otherwise, the manifest does.
  fileprivate var isListed: Bool {
    switch source {
    case .written: false
    case .file, .fetch: true
    }
  }
}

extension Download {
  /// The files in which the batch stores documents, or the folder that contains them.
  var targets: [String] {
    switch items.source {
    case .written(let items) where namesFiles: items.compactMap(\.saveTo)
    case .written, .file, .fetch: [ItemListReader.target(items.saveTo).folder]
    }
  }

  /// Whether the manifest names the files in which the batch stores documents.
  private var namesFiles: Bool {
    if case .written(let items) = items.source { items.contains { $0.saveTo != nil } } else { false }
  }
}

extension UploadWork {
  /// The fields of a list to which the request for an item refers, in a fixed order.
  fileprivate var itemFields: [String] {
    var fields: Set<String> = []
    for case .item(let field) in transfer.request.references { fields.insert(field) }
    return fields.sorted()
  }
}

extension FileLister {
  /// Lists the files. A path of a list is not a problem if ferry has delivered the path's file and then deleted or
  /// moved that file.
  ///
  /// - Parameters:
  ///   - journal: the journal of the upload's session; `nil` if nothing was delivered.
  ///   - row: the upload's row in the journal.
  /// - Throws: `ListingFailure` if the root or list cannot be read, `JournalError`, or the error of reading standard
  ///   input.
  func list(_ journal: SessionJournal?, _ row: NodeRow?) throws -> Listing {
    try list { path in
      // In a journal that was opened for reading, an upload that no run has started has no row.
      guard let journal, let row, row.id != 0 else { return false }
      return try journal.hasTakenFile(node: row.id, path: path)
    } standardInput: {
      try StandardInput.bytes(unless: isStopped)
    }
  }
}

extension ListingProblem: CustomStringConvertible {
  package var description: String { "\(DisplayPath.shown(path)): \(message)" }
}
