import FerryPlan

/// The upload resources to which transfers send their files in several requests. Each belongs to one file: if a server
/// assigned one to two files, their bytes would be mixed, or the offset of one would be taken for that of the other.
struct UploadResources {
  // Hashes take less memory than URLs. If two URLs have the same hash, one of the files fails.
  private var owners: [Int: ItemRef] = [:]
  private var held: [ItemRef: Int] = [:]
  /// The resources with which files were, or may have been, delivered in this launch.
  private var used: Set<Int> = []

  /// Records that an item's file is sent to a resource. Returns `false` if the resource is that of another file.
  ///
  /// - Parameter url: an absolute URL.
  mutating func hold(_ url: String, for ref: ItemRef) -> Bool {
    let hash = Self.hash(url)
    if owners[hash] == ref { return true }
    guard owners[hash] == nil, !used.contains(hash) else { return false }
    drop(ref, isUsed: false)
    owners[hash] = ref
    held[ref] = hash
    return true
  }

  /// Records that the item no longer sends its file to its resource.
  ///
  /// - Parameter isUsed: whether the file was, or may have been, delivered.
  mutating func drop(_ ref: ItemRef, isUsed: Bool) {
    guard let hash = held.removeValue(forKey: ref) else { return }
    owners[hash] = nil
    if isUsed { used.insert(hash) }
  }

  private static func hash(_ url: String) -> Int {
    var hasher = Hasher()
    // Bytes are hashed, because URLs with different bytes may be equal as strings.
    var url = url
    url.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    return hasher.finalize()
  }
}
