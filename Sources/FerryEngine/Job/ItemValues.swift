import FerryJournal
import FerryPlan

/// The values that an item's responses provide for its later steps.
struct ItemValues: Sendable {
  var allocate: [CapturedValue] = []
  var transfer: [CapturedValue] = []
  /// The SHA-256 digest of the file: 32 bytes.
  var sha256: [UInt8]?
  /// The inode of the file that was sent.
  var inode: UInt64?
  /// The upload's root folder at the time the file was sent.
  var root: FolderIdentity?
  /// The idempotency key that was recorded with the commit's intent.
  var commitKey: CommitKey?
  /// The servers that the upload ID or the transferred file belongs to, if captures of tokens or requests determine
  /// them.
  var servers: BoundServers?
  /// The server to which the item's last request was redirected; `nil` if the request was not redirected.
  var redirectedTo: String?
  /// Whether the item is counted as a holder of its upload ID.
  var isHeld = false

  init() {}

  /// In the journal, one column contains the captures of both steps. The step name distinguishes them.
  init(
    journaled captures: [CapturedValue], sha256: [UInt8]?, inode: UInt64? = nil, root: FolderIdentity? = nil,
    servers: String? = nil
  ) {
    self.servers = servers.map(BoundServers.init)
    self.sha256 = sha256
    self.inode = inode
    self.root = root
    for capture in captures {
      guard let dot = capture.name.firstIndex(of: ".") else { continue }
      let plain = CapturedValue(
        name: String(capture.name[capture.name.index(after: dot)...]), value: capture.value,
        isSecret: capture.isSecret)
      if capture.name[..<dot] == "allocate" { allocate.append(plain) } else { transfer.append(plain) }
    }
  }

  init(_ orphan: OrphanRow) {
    self.init(journaled: orphan.captures, sha256: orphan.sha256, servers: orphan.servers)
  }

  static func journaled(_ captures: [CapturedValue], step: String) -> [CapturedValue] {
    captures.map { CapturedValue(name: "\(step).\($0.name)", value: $0.value, isSecret: $0.isSecret) }
  }
}
