import FerryJournal
import FerryManifest
import FerryPlan

/// The checked settings of a manifest's pods.
///
/// In the pods, the manifest and its files have the same paths as on this machine: the manifest comes from a ConfigMap,
/// and the files from an existing claim.
struct KubernetesSettings {
  /// The default path of the state folder in the pods.
  static let defaultState = "/var/lib/ferry/state"
  /// The largest ConfigMap that Kubernetes accepts, in bytes.
  private static let largestMap = 1 << 20

  let image: String
  let secret: String?
  let resources: EngineSettings.Kubernetes.Resources
  let storage: EngineSettings.Kubernetes.Storage
  /// The manifest and the files that it includes, with their paths.
  let sources: [(path: String, text: String)]
  /// The folder at which the pods mount the claim with the files; `nil` if the image contains the files.
  let filesFolder: String?
  /// Whether the pods change files: they delete or move delivered files, or save fetched or downloaded ones.
  let changesFiles: Bool
  /// The folder at which the pods mount the claim for the state: the parent of the state folder, because ferry accepts
  /// only a state folder that it has created itself.
  let stateVolume: String

  /// - Throws: `UsageError` if a setting is missing or unsuitable, the manifest is too large for a ConfigMap, or the
  ///   pods would not find or keep its files.
  init(_ commands: ShardCommands) throws(UsageError) {
    let job = commands.job
    let settings = job.manifest.engine.kubernetes
    let path = DisplayPath.shown(job.path)
    guard let image = settings.image else {
      throw UsageError(
        "\(path): the manifest does not name the container image of its pods\n"
          + "help: add 'engine: { kubernetes: { image: registry.example.com/ferry:1 } }'")
    }
    if settings.secret == nil, let name = job.manifest.secrets.first(where: \.isFromEnvironment)?.name.value {
      throw UsageError(
        "\(path): the pods would not have the environment variable of secret '\(name)'\n"
          + "help: create a Secret that contains it, and add 'engine: { kubernetes: { secret: NAME } }'")
    }
    self.image = image
    (secret, resources, storage) = (settings.secret, settings.resources, settings.storage)
    sources = job.manifestSources.map {
      (AbsolutePath.text(of: $0.file), String(decoding: $0.bytes, as: UTF8.self))
    }
    let size = sources.reduce(0) { $0 + $1.text.utf8.count }
    guard size <= Self.largestMap else {
      throw UsageError(
        "\(path): the manifest and its includes have \(size) bytes; a ConfigMap has at most \(Self.largestMap)\n"
          + "help: move long lists from the manifest to a file, and refer to it with 'list'")
    }
    filesFolder = try storage.files.map { files throws(UsageError) in try Self.folder(of: files, for: job) }
    changesFiles =
      !job.manifest.fetches.isEmpty || !job.manifest.downloads.isEmpty
      || job.manifest.uploads.contains { $0.after != .keep }
    if let writer = Self.writer(outside: filesFolder, of: job) {
      throw UsageError(
        "\(path): \(writer) saves files outside the folder in "
          + "'engine.kubernetes.storage.files.path', so they would be lost with the pods\n"
          + "help: begin its 'save_to' with the folder of a claim in 'engine.kubernetes.storage.files'")
    }
    stateVolume = SplitPath(commands.state).folder
    guard !stateVolume.isEmpty, stateVolume != "/" else {
      throw UsageError(
        "--state \(DisplayPath.shown(commands.state)): the pods mount a volume at the parent of the state folder, which "
          + "cannot be '/'\nhelp: choose a path such as \(Self.defaultState)")
    }
  }

  private static func absolute(_ path: String, of job: Job) -> String {
    AbsolutePath.text(of: path.hasPrefix("/") ? path : job.folder + "/" + path)
  }

  private static func isInside(_ path: String, _ folder: String) -> Bool {
    folder == "/" || path == folder || path.hasPrefix(folder + "/")
  }

  /// A download batch or fetch whose files are not below the folder at which the pods mount the claim.
  private static func writer(outside folder: String?, of job: Job) -> String? {
    func isKept(_ target: String) -> Bool { folder.map { isInside(absolute(target, of: job), $0) } ?? false }
    if let download = job.manifest.downloads.first(where: { !$0.targets.allSatisfy(isKept) }) {
      return "download batch '\(download.name.value)'"
    }
    return job.manifest.fetches.first { !isKept($0.saveTo) }.map { "fetch '\($0.name.value)'" }
  }

  private static func folder(
    of files: EngineSettings.Kubernetes.Files, for job: Job
  ) throws(UsageError) -> String {
    let folder = absolute(files.path, of: job)
    let key = "'engine.kubernetes.storage.files.path'"
    guard !isInside(AbsolutePath.text(of: job.path), folder) else {
      throw UsageError(
        "\(DisplayPath.shown(job.path)): the folder in \(key) contains the manifest, which comes from a ConfigMap\n"
          + "help: choose a folder that contains only the files")
    }
    for upload in job.manifest.uploads where !isInside(absolute(upload.files.root, of: job), folder) {
      throw UsageError(
        "\(DisplayPath.shown(job.path)): the 'root' of upload '\(upload.name.value)' is not in the folder in \(key), so "
          + "the pods would not find it\nhelp: choose a folder that contains the 'root' of each upload")
    }
    if let list = lists(of: job.manifest).first(where: { !isInside(absolute($0, of: job), folder) }) {
      throw UsageError(
        "\(DisplayPath.shown(job.path)): the list \(DisplayPath.shown(list)) is not in the folder in \(key), so the "
          + "pods would not find it\nhelp: move the list to this folder")
    }
    return folder
  }
}

extension KubernetesSettings {
  /// The paths of the files that list the files of uploads and download batches.
  private static func lists(of manifest: Manifest) -> [String] {
    manifest.uploads.compactMap { upload in
      switch upload.files.source {
      case .list(let name, _): name == "-" ? nil : name
      case .globs, .items: nil
      }
    }
      + manifest.downloads.compactMap { download in
        switch download.items.source {
        case .file(let name, _): name
        // A fetch saves its list in the folder.
        case .written, .fetch: nil
        }
      }
  }
}

extension Secret {
  fileprivate var isFromEnvironment: Bool {
    switch source {
    case .environment: true
    case .file: false
    }
  }
}
