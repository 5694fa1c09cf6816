import FerryJournal
import FerryManifest
import FerryPlan
import Foundation

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
  ///   - environment: the environment of the process, which names files and the folder that replaces `~` in `~/`.
  ///   - state: the state folder of the command, which need not exist.
  init(_ jobs: [Job], environment: [String: String], state: StateDirectory) throws(JournalError) {
    home = environment["HOME"]
    for folder in [state.path] + (try state.ownFolders) {
      reserved.insert(ResolvedPath(absolute(folder)))
    }
    for file in Self.files(in: environment) { reserved.insert(ResolvedPath(absolute(file))) }
    for job in jobs {
      let folder = ResolvedPath(Array(job.folder.utf8))
      for fetch in job.manifest.fetches { add(fetch, of: job) }
      for download in job.manifest.downloads { add(download.items, in: folder) }
      for case .upload(let work) in job.plan.nodes.map(\.work) {
        if let list = list(of: work, job) { reserved.insert(list) }
      }
      for input in inputs(of: job) { reserved.insert(input) }
      for upload in job.manifest.uploads {
        // Files can be downloaded into a root, but not in place of a link on the way to it.
        guard let root = absolute(upload.files.root, in: job) else { continue }
        for link in ResolvedPath(root).links { reserved.insert(file: link) }
      }
    }
  }

  /// The files and folders, other than lists, that the run reads: manifests, variables files, secrets, certificates, request
  /// bodies, sockets, the programs of `on_events` and `on_expiry`, and those of their arguments that are files.
  private func inputs(of job: Job) -> [ResolvedPath] {
    let manifest = job.manifest
    var named = manifest.netrcFiles + manifest.bodyFiles
    for command in manifest.sessions.map(\.onEvents) + [manifest.executionWindow.onExpiry] {
      named += command.prefix(1) + command.dropFirst().filter { isFile($0, of: job) }
    }
    for session in manifest.sessions {
      let connection = session.connection
      named += connection.tls.files.map(\.path)
      named += [connection.tls.caPath, connection.unixSocket].compactMap(\.self)
    }
    var files = job.sources.map { Array(AbsolutePath.text(of: $0.file).utf8) }
    for case .file(let path) in manifest.secrets.map(\.source) {
      files.append(Array(SecretValues.file(path, in: job.folder).utf8))
    }
    files += named.compactMap { absolute($0, in: job) }
    return files.map(ResolvedPath.init)
  }

  /// Whether an argument of a command is the path of a file. It can also be a word, or the folder of the downloaded files.
  private func isFile(_ argument: String, of job: Job) -> Bool {
    var status = stat()
    guard let path = absolute(argument, in: job) else { return false }
    return stat(FileLister.terminated(path), &status) == 0 && status.st_mode & S_IFMT == S_IFREG
  }

  /// The files and folders that the environment determines instead of the manifest. Relative paths are relative to the
  /// working directory.
  private static func files(in environment: [String: String]) -> [String] {
    let bundles = ["CURL_CA_BUNDLE", "SSL_CERT_FILE"].compactMap { environment[$0] }.filter { !$0.isEmpty }
    let authorities = environment["SSL_CERT_DIR"]?.split(separator: ":").map(String.init) ?? []
    return bundles + authorities + AWSSettings.profilePaths(environment)
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
    work.listFile.flatMap { absolute($0, in: job) }.map(ResolvedPath.init)
  }

  /// `nil` without a home directory if the path begins with it. This is reported when the file is read.
  private func absolute(_ path: String, in job: Job) -> [UInt8]? {
    try? FileLister.absolute(path, baseFolder: job.folder, home: home)
  }

  /// - Parameter path: absolute, or relative to the working directory.
  private func absolute(_ path: String) -> [UInt8] { Array(AbsolutePath.text(of: path).utf8) }
}
