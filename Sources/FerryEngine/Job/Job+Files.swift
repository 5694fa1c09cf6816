import FerryJournal
import FerryManifest
import FerryPlan
import Foundation

extension Job {
  /// The listers of the uploads' files, by node.
  ///
  /// - Parameters:
  ///   - state: the state folder of the command. The files of the whole state folder are not listed.
  ///   - others: the other jobs of the run.
  func listers(
    environment: [String: String], state: StateDirectory, alongside others: [Job] = []
  ) throws -> [Int: FileLister] {
    let stateFolder = try StateFolder(of: state)
    let shard = part?.shard
    let stored = storedPaths
    let jobs = [self] + others
    let reserved = ReservedPaths(
      files: Set(jobs.flatMap(\.inputPaths).compactMap(path(belowFolder:))),
      folders: Set(jobs.flatMap(\.targetFolders).flatMap(folders(above:))))
    var listers: [Int: FileLister] = [:]
    for (index, node) in plan.nodes.enumerated() {
      guard case .upload(let work) = node.work else { continue }
      var lister = try FileLister(
        work.files, after: work.after, baseFolder: folder, home: environment["HOME"])
      lister.stateFolder = stateFolder
      lister.requestFields = work.itemFields
      lister.listAuthor = listAuthor(of: work, stored)
      if case .items(let items) = work.files.source, items.isListed { lister.reserved = reserved }
      lister.filter = shard.map { ShardFilter($0, upload: node.name) }
      listers[index] = lister
    }
    return listers
  }

  /// Who determines the contents of an upload's list.
  func listAuthor(of work: UploadWork) -> FileLister.ListAuthor { listAuthor(of: work, storedPaths) }

  private func listAuthor(of work: UploadWork, _ stored: Set<[UInt8]>) -> FileLister.ListAuthor {
    guard var path = (work.listFile.map { Array(standardized($0).utf8) }) else { return .user }
    while !stored.contains(path) {
      guard let slash = path.lastIndex(of: UInt8(ascii: "/")), path.count > 1 else { return .user }
      path.removeSubrange(max(slash, 1)...)
    }
    return .server
  }

  /// The files and folders in which the fetches and download batches of the manifest store documents.
  private var storedPaths: Set<[UInt8]> {
    Set(
      (manifest.fetches.map(\.saveTo) + manifest.downloads.flatMap(\.targets)).map {
        Array(standardized($0).utf8)
      })
  }

  /// The documents of fetches, and the lists of uploads and download batches.
  private var inputPaths: [String] {
    let lists = plan.nodes.compactMap { node in
      if case .upload(let work) = node.work { work.listFile } else { nil }
    }
    return (manifest.fetches.map(\.saveTo) + lists).map(standardized)
  }

  /// The folders of the documents of fetches and of lists, and those into which download batches store documents.
  private var targetFolders: [String] {
    var files = inputPaths
    var folders: [String] = []
    for download in manifest.downloads {
      let targets = download.targets.map(standardized)
      if download.namesFiles { files += targets } else { folders += targets }
    }
    return folders + files.map { URL(filePath: $0).deletingLastPathComponent().path }
  }

  /// A folder, and the folders above it up to the manifest's folder, in the form in which the files of download batches
  /// are compared.
  private func folders(above folder: String) -> [String] {
    guard let key = path(belowFolder: folder) else { return [] }
    let names = key.split(separator: "/")
    return names.indices.map { names[...$0].joined(separator: "/") }
  }

  /// A path relative to the manifest's folder, in the form in which the files of download batches are compared; `nil` if
  /// the path is elsewhere.
  private func path(belowFolder path: String) -> String? {
    let folder = standardized(".") + "/"
    guard path.hasPrefix(folder) else { return nil }
    return ItemListReader.key(path.dropFirst(folder.count).utf8)
  }

  /// The absolute path of a list or of a fetch's document, without `.` and `..`, for comparisons.
  func standardized(_ path: String) -> String {
    URL(filePath: path, relativeTo: URL(filePath: folder, directoryHint: .isDirectory)).standardized.path
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
  fileprivate var namesFiles: Bool {
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
