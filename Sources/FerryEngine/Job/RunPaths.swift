import FerryJournal
import FerryManifest
import FerryPlan

/// The files and folders that the nodes of a run read or store. Their links are resolved when this value is created.
struct RunPaths {
  /// What the lists of download batches cannot replace, except for `base`.
  private var reserved = ReservedPaths()
  /// The files and folders in which responses are stored.
  private var stored: Set<String> = []
  private var fetches: [String: [FileLister.ListFetch]] = [:]
  private let home: String?

  /// - Parameters:
  ///   - jobs: the jobs of the run.
  ///   - home: the folder that replaces `~` in `~/`.
  init(_ jobs: [Job], home: String?) {
    self.home = home
    for job in jobs {
      let folder = ResolvedPath(Array(job.folder.utf8))
      for fetch in job.manifest.fetches { add(fetch, of: job) }
      for download in job.manifest.downloads { add(download.items, in: folder) }
      for case .upload(let work) in job.plan.nodes.map(\.work) {
        if let list = list(of: work, job) { reserved.insert(list) }
      }
      for input in inputs(of: job) { reserved.insert(input) }
    }
  }

  /// The files, other than lists, that the run reads: manifests, variables files, secrets, certificates, request bodies, and
  /// the programs of `on_events` with their arguments.
  private func inputs(of job: Job) -> [ResolvedPath] {
    let manifest = job.manifest
    var named = manifest.sessions.flatMap { $0.connection.tls.files.map(\.path) + $0.onEvents }
    named += manifest.netrcFiles + manifest.bodyFiles
    for case .file(let path) in manifest.secrets.map(\.source) { named.append(path) }
    let sources = job.sources.map { Array(AbsolutePath.text(of: $0.file).utf8) }
    let files = named.compactMap { try? FileLister.absolute($0, baseFolder: job.folder, home: home) }
    return (sources + files).map(ResolvedPath.init)
  }

  private mutating func add(_ fetch: Fetch, of job: Job) {
    // A link with the name of the document is replaced, not followed.
    let path = SplitPath(job.folder + "/" + fetch.saveTo)
    let folder = ResolvedPath(Array(path.folder.utf8))
    let document = folder.path(of: path.name.utf8)
    for file in [document] + folder.links { reserved.insert(file: file) }
    stored.insert(document)
    fetches[document, default: []].append(.init(manifest: job.plan.manifest, fetch: fetch.name.value))
  }

  /// - Parameter folder: the manifest's folder. Links below it are not followed when items are stored.
  private mutating func add(_ items: DownloadItems, in folder: ResolvedPath) {
    switch items.source {
    case .written:
      for file in ItemListReader.files(ofItemsInManifest: items) {
        let document = folder.path(of: file)
        reserved.insert(file: document)
        stored.insert(document)
      }
    case .file, .fetch:
      let target = folder.path(of: FileLister.plain(Array(ItemListReader.target(items.saveTo).folder.utf8)))
      reserved.insert(folder: target)
      stored.insert(target)
    }
  }

  /// What the list of a download batch of the job cannot replace.
  func reserved(for job: Job) -> ReservedPaths {
    var reserved = reserved
    reserved.base = ResolvedPath(Array(job.folder.utf8)).target + "/"
    return reserved
  }

  /// Sets the author of an upload's list, and the fetches that store the list.
  func describeList(of work: UploadWork, _ job: Job, to lister: inout FileLister) {
    guard let list = list(of: work, job) else { return }
    let paths = [list.target] + list.links
    lister.listAuthor = paths.contains(where: isStored) ? .server : .user
    lister.listFetches = Set(paths.flatMap { fetches[$0] ?? [] })
  }

  /// Whether responses determine a file: it is stored, or is below a folder in which files are stored.
  private func isStored(_ path: String) -> Bool {
    var path = path
    while !path.isEmpty, path != "/" {
      if stored.contains(path) { return true }
      path = SplitPath(path).folder
    }
    return false
  }

  /// The list of an upload or a download batch; `nil` if it has no list in a file.
  private func list(of work: UploadWork, _ job: Job) -> ResolvedPath? {
    // Without a home directory, a list in it cannot be read, which is reported when the list is read.
    work.listFile.flatMap { try? FileLister.absolute($0, baseFolder: job.folder, home: home) }.map(
      ResolvedPath.init)
  }
}
