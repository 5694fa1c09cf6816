import FerryManifest
import FerryPlan

/// The values from responses for items, and the mask of every known secret.
///
/// An item's secrets are retired together with the item's values: from then on, the mask keeps only a bounded
/// number of fingerprints. Otherwise, a long run would keep the secrets of all its items, and search every
/// text for each of them.
///
/// This is a class, because each read of a struct in a property of a class would copy it.
final class ItemValueStore {
  private var items: [ItemRef: ItemValues]
  /// The size of the captures of each upload's items, in bytes.
  private var captureBytes: [NodeID: Int] = [:]
  /// The URLs of upload sessions in the latest responses to parts of files. They are not journaled: after an
  /// interruption, the URL that `allocate` captured is used.
  private var sessions: [ItemRef: CapturedValue] = [:]
  /// The parts of the items' files that S3 servers have confirmed. They are journaled once a server has every
  /// part; after an interruption, the server is asked for the list of parts.
  private var parts: [ItemRef: PartTags] = [:]
  /// The parts that S3 servers have listed, and whose checksums have not been compared with those of the files.
  private var listedParts: [ItemRef: PartTags] = [:]
  /// The URLs of each file's partial uploads, by number, until the server has created all of them.
  private var partialUploads: [ItemRef: [Int: String]] = [:]
  /// For each orphan, the number of its upload resources that have been released.
  private var releasedResources: [ItemRef: Int] = [:]
  private(set) var mask: SecretMask
  /// The items' secrets that are not added to the mask yet, because no string masked so far could contain them or the
  /// parts of them that are masked, with the number of insertions of each. A server determines their length, and adding
  /// a secret to the mask takes much longer than storing it here.
  private var unmasked: [SecretKind: [[UInt8]: Int]] = [:]
  /// The greatest length that a secret of the run has had in any form, in bytes.
  private var longestForm = 0
  /// Secrets that belong to no item: secrets of manifests, tokens, captures of requests.
  private(set) var lasting: SecretMask
  /// The secrets in the responses of each token node, oldest first.
  private var issued: [Int: [String]] = [:]

  /// - Parameters:
  ///   - secrets: masked until the run ends.
  ///   - filters: the sequences of filters that a secret may pass through.
  ///   - earlier: the values of the work that precedes these items in the same run. The secrets of that work are masked
  ///     too.
  ///   - retiredSecrets: the minimum number of secrets of ended items that are masked.
  init(
    _ items: [ItemRef: ItemValues], secrets: some Sequence<SensitiveValue>,
    filters: Set<[ReferenceFilter]> = [], after earlier: ItemValueStore? = nil,
    retiredSecrets: Int = SecretFingerprints.defaultCapacity
  ) {
    self.items = items
    mask = earlier?.mask ?? SecretMask(retired: retiredSecrets)
    lasting = earlier?.lasting ?? SecretMask()
    unmasked = earlier?.unmasked ?? [:]
    longestForm = earlier?.longestForm ?? 0
    add(filters: filters)
    for secret in secrets { keepSecret(secret.revealed) }
    for (ref, values) in items {
      if ref.item != nil { captureBytes[ref.node, default: 0] += values.captureBytes }
      for secret in values.secrets { insert(secret) }
    }
  }

  subscript(ref: ItemRef) -> ItemValues? { items[ref] }

  func update(_ ref: ItemRef, _ body: (inout ItemValues) -> Void) {
    let before = items[ref]?.secrets ?? []
    let size = items[ref]?.captureBytes ?? 0
    body(&items[ref, default: ItemValues()])
    count(capturesOf: ref, before: size)
    // Insert the new secrets first, so that the mask is not rebuilt for the unchanged ones.
    for secret in items[ref]?.secrets ?? [] { insert(secret) }
    for secret in before { retire(secret) }
  }

  /// The URL of the item's upload session; `nil` if no response to a part of its file contained one.
  func session(of ref: ItemRef) -> CapturedValue? { sessions[ref] }

  func keep(session: CapturedValue?, of ref: ItemRef) {
    let before = sessions[ref]
    sessions[ref] = session
    if let session, session.isSecret { insert(session.value) }
    if let before, before.isSecret { retire(before.value) }
  }

  /// The parts of the item's file that the server has confirmed.
  func parts(of ref: ItemRef) -> PartTags { parts[ref] ?? PartTags() }

  func keep(part number: Int, _ tag: PartTags.Tag, of ref: ItemRef) {
    parts[ref, default: PartTags()].set(tag, of: number)
  }

  func listedParts(of ref: ItemRef) -> PartTags? { listedParts[ref] }

  func keep(listedPart number: Int, _ tag: PartTags.Tag, of ref: ItemRef) {
    listedParts[ref, default: PartTags()].set(tag, of: number)
  }

  /// Keeps the URL of a partial upload, which is secret.
  ///
  /// - Parameter count: the number of the file's partial uploads.
  /// - Returns: the URLs of all partial uploads in order; `nil` if some are missing.
  func keep(partialUpload url: String, _ number: Int, of count: Int, _ ref: ItemRef) -> [String]? {
    insert(url)
    if let before = partialUploads[ref, default: [:]].updateValue(url, forKey: number) { retire(before) }
    let urls = (1...count).compactMap { partialUploads[ref]?[$0] }
    return urls.count == count ? urls : nil
  }

  func releasedResources(of orphan: ItemRef) -> Int { releasedResources[orphan] ?? 0 }

  func keep(releasedResources count: Int, of orphan: ItemRef) { releasedResources[orphan] = count }

  func forgetPartialUploads(of ref: ItemRef) {
    for url in partialUploads.removeValue(forKey: ref)?.values.map(\.self) ?? [] { retire(url) }
  }

  /// Removes the values of an item.
  ///
  /// - Parameter keepsSecrets: whether the secrets are masked until the run ends, because the journal still has them.
  func forget(_ ref: ItemRef, keepsSecrets: Bool = false) {
    if keepsSecrets { keepSecrets(of: ref) }
    if sessions[ref] != nil { keep(session: nil, of: ref) }
    parts[ref] = nil
    listedParts[ref] = nil
    releasedResources[ref] = nil
    forgetPartialUploads(of: ref)
    guard let values = items.removeValue(forKey: ref) else { return }
    count(capturesOf: ref, before: values.captureBytes)
    for secret in values.secrets { retire(secret) }
  }

  /// Fails with `capture` if captures cannot be kept with those of the upload's other open items.
  ///
  /// A server determines their size, and they stay in memory and in the journal while their items are open.
  func checkRoom(for captures: [CapturedValue], of ref: ItemRef) throws(TransportFailure) {
    let size = captureBytes[ref.node, default: 0] + captures.size
    guard ref.item != nil, size > Self.mostCaptureBytes else { return }
    throw TransportFailure(
      .capture,
      "the captured values of the upload's open items have \(ByteText.text(Int64(Self.mostCaptureBytes))), and no more "
        + "are kept until some of these items end",
      mayHaveReachedServer: true)
  }

  /// The maximum size of the captures of an upload's open items, in bytes.
  static let mostCaptureBytes = 64 << 20

  private func count(capturesOf ref: ItemRef, before: Int) {
    // The captures of orphans have their own limit (`LaunchState.mostOrphanBytes`).
    guard ref.item != nil else { return }
    captureBytes[ref.node, default: 0] += (items[ref]?.captureBytes ?? 0) - before
  }

  /// Masks the secrets of an item until the run ends.
  func keepSecrets(of ref: ItemRef) {
    for secret in items[ref]?.secrets ?? [] { mask.keepFingerprint(of: secret) }
  }

  /// Masks a secret that does not belong to an item, until the run ends.
  func keepSecret(_ secret: String) {
    for secret in [secret] + SecretURLParts.credentials(of: secret) {
      mask.insert(secret)
      lasting.insert(secret)
      longestForm = max(longestForm, mask.longestForm(of: secret))
    }
  }

  /// Masks a secret in a response of a token node.
  ///
  /// A server that rejects each token soon determines the number of tokens, so the oldest ones are retired: they remain
  /// masked until very many others have been retired after them.
  func keepSecret(_ secret: String, ofToken node: Int) {
    guard !lasting.contains(secret) else { return }
    keepSecret(secret)
    issued[node, default: []].append(secret)
    var size = issued[node, default: []].reduce(0) { $0 + $1.utf8.count }
    while let count = issued[node]?.count,
      count > Self.mostTokens || size > Self.mostTokenBytes && count > Self.leastTokens,
      let oldest = issued[node]?.removeFirst()
    {
      size -= oldest.utf8.count
      for secret in [oldest] + SecretURLParts.credentials(of: oldest) {
        mask.retire(secret)
        lasting.retire(secret)
      }
    }
  }

  private static let leastTokens = 16
  private static let mostTokens = 200
  private static let mostTokenBytes = 1 << 20

  /// Adds sequences of filters that a secret may pass through.
  func add(filters: Set<[ReferenceFilter]>) {
    mask.add(filters: filters)
    lasting.add(filters: filters)
    let secrets = unmasked.values.flatMap(\.keys).map { String(decoding: $0, as: UTF8.self) }
    longestForm =
      secrets.map { [mask] in mask.longestForm(of: $0) }.max().map { max($0, longestForm) } ?? longestForm
  }

  /// Returns the string with every secret replaced by `***`.
  ///
  /// - Parameter more: texts that are replaced too.
  func masked(_ text: String, hiding more: [[UInt8]] = []) -> String {
    prepareMask(forTextOf: text.utf8.count, .display)
    return mask.mask(text, hiding: more)
  }

  /// Returns the origin of a server, with every secret that is in use replaced by `***`.
  func maskedInUse(_ origin: String) -> String {
    prepareMask(forTextOf: origin.utf8.count, .wholeSecretsInUse)
    return mask.mask(origin, .wholeSecretsInUse)
  }

  /// Returns the first bytes of a string, with every secret replaced by `***`. Searches only a bounded part of the
  /// string.
  ///
  /// A secret that is cut off at the end of the text is not recognized, so bytes that could belong to such a secret
  /// are omitted. If secrets are so long that too much would have to be searched, all bytes are omitted.
  ///
  /// - Parameters:
  ///   - count: the number of bytes wanted.
  ///   - isCut: whether the text continues after `bytes`.
  ///   - more: texts that are replaced too.
  func maskedBeginning(
    _ count: Int, of bytes: [UInt8], isCut: Bool, hiding more: [[UInt8]] = []
  ) -> [UInt8] {
    let longestForm = more.map { SecretMask.longestEncoding(ofBytes: $0.count) }.reduce(longestForm, max)
    let window = Array(bytes.prefix(min(count + longestForm, Self.searchLimit)))
    prepareMask(forTextOf: window.count, .display)
    let isWindowCut = isCut || window.count < bytes.count
    return mask.mask(
      window, upTo: max(0, min(count, isWindowCut ? window.count - longestForm : window.count)), hiding: more)
  }

  /// The maximum number of bytes that `maskedBeginning` searches.
  private static let searchLimit = 64 << 10

  /// Adds to the mask the secrets that a string of this many bytes may contain.
  private func prepareMask(forTextOf count: Int, _ scope: SecretMask.Scope) {
    let searchesParts = scope == .display && count >= SecretURLParts.shortest
    for kind in unmasked.keys
    where searchesParts && kind.mayHaveParts || mask.mayOccur(kind.length, in: count) {
      for (secret, uses) in unmasked.removeValue(forKey: kind) ?? [:] {
        for _ in 0..<uses { mask.insert(String(decoding: secret, as: UTF8.self)) }
      }
    }
  }

  private func insert(_ secret: String) {
    // The mask counts the insertions of secrets that it already contains.
    if mask.contains(secret) { return mask.insert(secret) }
    let bytes = Array(secret.utf8)
    longestForm = max(longestForm, mask.longestForm(of: secret))
    unmasked[SecretKind(bytes), default: [:]][bytes, default: 0] += 1
  }

  private func retire(_ secret: String) {
    let bytes = Array(secret.utf8)
    let kind = SecretKind(bytes)
    guard let count = unmasked[kind]?[bytes] else { return mask.retire(secret) }
    unmasked[kind]?[bytes] = count > 1 ? count - 1 : nil
    if unmasked[kind]?.isEmpty == true { unmasked[kind] = nil }
    if count == 1 { mask.retire(secret) }
  }
}

/// The properties of a secret that determine which strings may contain it.
private struct SecretKind: Hashable {
  /// In bytes.
  let length: Int
  let mayHaveParts: Bool

  init(_ secret: [UInt8]) {
    length = secret.count
    mayHaveParts = SecretURLParts.mayExist(of: secret)
  }
}

extension ItemValues {
  fileprivate var captureBytes: Int { allocate.size + transfer.size }

  fileprivate var secrets: [String] {
    var secrets: [String] = []
    for capture in allocate where capture.isSecret { secrets.append(capture.value) }
    for capture in transfer where capture.isSecret { secrets.append(capture.value) }
    return secrets
  }
}
