import FerryPlan

/// The upload resources to which transfers send their files in several requests. Each belongs to one file, or to one
/// part of a file that is sent to several resources: if a server assigned a resource twice, the bytes of different
/// files or parts would be mixed, or the offset of one file or part would be taken for the offset of the other.
struct UploadResources {
  private struct Owner: Hashable {
    var ref: ItemRef
    /// The number of the file's resource, counted from 1.
    var number: Int
  }

  // Hashes take less memory than URLs. If two URLs have the same hash, one of the files fails.
  private var owners: [Int: Owner] = [:]
  /// For each file, the hashes of its resources' URLs, by the numbers of the resources.
  private var held: [ItemRef: [Int: Int]] = [:]
  /// The resources with which files were, or may have been, delivered in this launch.
  private var used: Set<Int> = []

  /// Records that an item's file is sent to a resource. Returns `false` if the resource already belongs to
  /// another file, or to another part of the file.
  ///
  /// - Parameters:
  ///   - url: an absolute URL.
  ///   - number: the number of the file's resource, counted from 1.
  mutating func hold(_ url: String, for ref: ItemRef, number: Int = 1) -> Bool {
    let hash = Self.hash(url)
    let owner = Owner(ref: ref, number: number)
    if owners[hash] == owner { return true }
    guard owners[hash] == nil, !used.contains(hash) else { return false }
    if let before = held[ref]?[number] { owners[before] = nil }
    owners[hash] = owner
    held[ref, default: [:]][number] = hash
    return true
  }

  /// Records that the item no longer sends its file to its resources.
  ///
  /// - Parameter isUsed: whether the file was, or may have been, delivered.
  mutating func drop(_ ref: ItemRef, isUsed: Bool) {
    for hash in held.removeValue(forKey: ref)?.values.map(\.self) ?? [] {
      owners[hash] = nil
      if isUsed { used.insert(hash) }
    }
  }

  private static func hash(_ url: String) -> Int {
    var hasher = Hasher()
    // Bytes are hashed, because URLs with different bytes may be equal as strings.
    var resource = URLReference(url).resource
    resource.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    return hasher.finalize()
  }
}
