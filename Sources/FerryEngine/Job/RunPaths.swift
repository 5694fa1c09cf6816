import FerryJournal
import FerryManifest
import FerryPlan
import FerryProcess
import Foundation

/// The files and folders that the nodes of a run read or store. Their links are resolved when this value is created.
struct RunPaths {
  /// What the lists of download batches cannot replace, except for `base`.
  private var reserved = ReservedPaths()
  /// The files and folders in which responses are stored.
  private var stored: Set<String> = []
  private var fetches: [String: [FileLister.ListFetch]] = [:]
  private let environment: [String: String]
  private var home: String? { environment["HOME"] }

  /// - Parameters:
  ///   - jobs: the jobs of the run.
  ///   - environment: the environment of the process, which names files and the folder that replaces `~` in `~/`.
  ///   - state: the state folder of the command, which need not exist.
  ///   - files: the files that the command line names.
  init(
    _ jobs: [Job], environment: [String: String], state: StateDirectory, files: [String] = []
  ) throws(JournalError) {
    self.environment = environment
    for path in [state.path] + (try state.ownFolders) + Self.files(in: environment) + files {
      reserved.insert(ResolvedPath(absolute(path)))
    }
    for job in jobs {
      let folder = ResolvedPath(Array(job.folder.utf8))
      for fetch in job.manifest.fetches { add(fetch, of: job) }
      for download in job.manifest.downloads { add(download.items, in: folder) }
      for case .upload(let work) in job.plan.nodes.map(\.work) {
        if let list = list(of: work, job) { reserved.insert(list) }
      }
      for input in inputs(of: job) { reserved.insert(input) }
      for argument in arguments(of: job) { add(argument) }
      for upload in job.manifest.uploads {
        // Files can be downloaded into a root, but not in place of a link on the way to it.
        guard let root = absolute(upload.files.root, in: job) else { continue }
        for link in ResolvedPath(root).links { reserved.insert(file: link) }
      }
    }
  }

  /// The files and folders, other than lists, that the run reads: manifests, variables files, secrets, certificates, request
  /// bodies, sockets, and the programs of `on_events` and `on_expiry`.
  private func inputs(of job: Job) -> [ResolvedPath] {
    let manifest = job.manifest
    var named = manifest.netrcFiles + manifest.bodyFiles
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
    files += manifest.commands.compactMap(\.first).compactMap { name in
      ChildProgram.path(of: name, in: job.folder, environment: environment).map(absolute)
    }
    return files.map(ResolvedPath.init)
  }

  /// The arguments of the commands of `on_events` and `on_expiry` as paths. In `--option=PATH`, the value is the path.
  private func arguments(of job: Job) -> [[UInt8]] {
    job.manifest.commands.flatMap { $0.dropFirst() }.compactMap { argument in
      let value = argument.hasPrefix("-") ? argument.split(separator: "=", maxSplits: 1).last : nil
      return absolute(value.map(String.init) ?? argument, in: job)
    }
  }

  /// Adds an argument of a command, which can be the path of a file, the folder of the downloaded files, or another word.
  private mutating func add(_ argument: [UInt8]) {
    var status = stat()
    if stat(FileLister.terminated(argument), &status) != 0 {
      reserved.insert(missing: ResolvedPath(argument))
    } else if status.st_mode & S_IFMT != S_IFDIR {
      reserved.insert(ResolvedPath(argument))
    }
  }

  /// The files and folders that the environment determines instead of the manifest. Relative paths are relative to the
  /// working directory.
  private static func files(in environment: [String: String]) -> [String] {
    let bundles = ["CURL_CA_BUNDLE", "SSL_CERT_FILE", "OPENSSL_CONF"].compactMap { environment[$0] }.filter {
      !$0.isEmpty
    }
    let authorities = environment["SSL_CERT_DIR"]?.split(separator: ":").map(String.init) ?? []
    return bundles + authorities + AWSSettings.profilePaths(environment) + kerberosFiles(in: environment)
  }

  /// The configuration, the tickets and the keys of Kerberos (krb5.conf(5)). A type such as `FILE:` can precede a path.
  private static func kerberosFiles(in environment: [String: String]) -> [String] {
    let configuration = environment["KRB5_CONFIG"]?.split(separator: ":").map(String.init) ?? []
    let stores = ["KRB5CCNAME", "KRB5_KTNAME", "KRB5_CLIENT_KTNAME"].compactMap { environment[$0] }
    return configuration + stores.compactMap(kerberosStore)
  }

  /// The path in the name of a ticket cache or a key table. With `DIR::FILE`, it is the folder of the file, which also
  /// contains the name of the primary cache.
  private static func kerberosStore(_ name: String) -> String? {
    guard let path = name.split(separator: ":", maxSplits: 1).last.map(String.init) else { return nil }
    return path.hasPrefix(":") ? SplitPath(String(path.drop { $0 == ":" })).folder : path
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

extension Manifest {
  /// The commands of `on_events` and `on_expiry`.
  fileprivate var commands: [[String]] { sessions.map(\.onEvents) + [executionWindow.onExpiry] }
}
