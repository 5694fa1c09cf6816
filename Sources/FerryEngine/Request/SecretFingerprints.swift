/// Recognizes secrets in text without keeping their values, in bounded memory.
///
/// Every form of a secret is stored as a 64-bit fingerprint of its length and its polynomial hash (Karp and Rabin,
/// 1987). The hash of any substring of a text follows from the hashes of two prefixes of the text. Therefore, one pass
/// over a text searches for millions of forms: at each position, the next eight bytes are looked up, and only if a form
/// may begin with them, one substring is looked up for each length that a form has. If two texts have the same
/// fingerprint, the only consequence is that too much is masked.
struct SecretFingerprints: Sendable {
  /// The minimum number of secrets that remain recognized, apart from lasting ones.
  private let capacity: Int
  private var recent = Table()
  /// The secrets inserted before those in `recent`. They are dropped all at once, because a single fingerprint cannot
  /// be removed from a table.
  private var previous = Table()
  /// The secrets that are never dropped.
  private var lasting = Table()

  /// The default capacity, which docs/security.md documents.
  static let defaultCapacity = 65_536

  init(capacity: Int = SecretFingerprints.defaultCapacity) { self.capacity = capacity }

  var isEmpty: Bool { recent.isEmpty && previous.isEmpty && lasting.isEmpty }

  /// Adds a secret.
  ///
  /// - Parameters:
  ///   - forms: all forms of the secret.
  ///   - isLasting: whether the secret is never dropped.
  mutating func insert(_ forms: some Sequence<[UInt8]>, isLasting: Bool) {
    guard !isLasting else {
      lasting.insert(forms)
      return
    }
    if recent.secrets == capacity { (previous, recent) = (recent, Table()) }
    recent.insert(forms)
  }

  /// The greatest length of a form, rounded down.
  var longest: Int { max(recent.longest, previous.longest, lasting.longest) }

  /// The ranges of all secrets in a text. The range of a secret of 128 bytes or more may be up to 1.6 %
  /// longer than the secret.
  ///
  /// - Parameter text: the hashes of substrings of at least `longest` bytes.
  func matches(in text: TextHashes) -> [Range<Int>] {
    let tables = [recent, previous, lasting].filter { !$0.isEmpty }
    guard !tables.isEmpty else { return [] }
    var found: [Range<Int>] = []
    for start in 0..<text.count {
      var end = start
      for table in tables { end = max(end, table.end(ofFormAt: start, in: text)) }
      if end > start { found.append(start..<end) }
    }
    return found
  }
}

extension SecretFingerprints {
  /// A set of fingerprints.
  fileprivate struct Table: Sendable {
    /// The number of secrets that were not in the table when they were inserted.
    private(set) var secrets = 0
    /// A hash table with linear probing that is at most half full. Zero is an empty slot.
    private var slots: [UInt64] = []
    private var count = 0
    /// A Bloom filter of the first bytes of all forms that have at least `prefixLength` bytes.
    private var prefixes: [UInt64] = []
    /// The lengths of the forms, in bytes and in descending order, rounded down by `PolynomialHash.rounded`.
    private var lengths: [Int] = []
    private var shortLengths: [Int] = []

    private static let prefixLength = 8
    private static let prefixBits = 1 << 22

    var isEmpty: Bool { count == 0 }

    /// The greatest length of a form, rounded down.
    var longest: Int { lengths.first ?? shortLengths.first ?? 0 }

    mutating func insert(_ forms: some Sequence<[UInt8]>) {
      let before = count
      for form in forms where !form.isEmpty { insert(form) }
      if count > before { secrets += 1 }
    }

    private mutating func insert(_ form: [UInt8]) {
      let length = PolynomialHash.rounded(form.count)
      guard add(PolynomialHash.fingerprint(PolynomialHash.hash(form.prefix(length)), length: length)) else {
        return
      }
      if length < Self.prefixLength {
        Self.add(length, to: &shortLengths)
      } else {
        Self.add(length, to: &lengths)
        if prefixes.isEmpty { prefixes = Array(repeating: 0, count: Self.prefixBits / 64) }
        let (word, bit) = Self.place(ofPrefix: PolynomialHash.hash(form.prefix(Self.prefixLength)))
        prefixes[word] |= bit
      }
    }

    /// The end of the longest form at a position; the position itself if there is none.
    func end(ofFormAt start: Int, in text: TextHashes) -> Int {
      let rest = text.count - start
      if rest >= Self.prefixLength, !lengths.isEmpty {
        let (word, bit) = Self.place(ofPrefix: text.hash(at: start, length: Self.prefixLength))
        if prefixes[word] & bit != 0 {
          for length in lengths where length <= rest && contains(text, start, length) {
            // The bytes that were rounded off belong to the secret.
            return min(text.count, start + (length | PolynomialHash.rounding(of: length)))
          }
        }
      }
      for length in shortLengths where length <= rest && contains(text, start, length) {
        return start + length
      }
      return start
    }

    private static func add(_ length: Int, to lengths: inout [Int]) {
      let index = lengths.firstIndex { $0 <= length } ?? lengths.endIndex
      if index == lengths.endIndex || lengths[index] != length { lengths.insert(length, at: index) }
    }

    private static func place(ofPrefix hash: UInt64) -> (word: Int, bit: UInt64) {
      let index = Int(PolynomialHash.fingerprint(hash, length: prefixLength) % UInt64(prefixBits))
      return (index / 64, 1 << UInt64(index % 64))
    }

    // MARK: Slots

    private func contains(_ text: TextHashes, _ start: Int, _ length: Int) -> Bool {
      let fingerprint = PolynomialHash.fingerprint(text.hash(at: start, length: length), length: length)
      return slots[slot(of: fingerprint)] == fingerprint
    }

    /// Returns `false` if the table already contains the fingerprint.
    private mutating func add(_ fingerprint: UInt64) -> Bool {
      if 2 * (count + 1) > slots.count { grow() }
      let slot = slot(of: fingerprint)
      guard slots[slot] == 0 else { return false }
      slots[slot] = fingerprint
      count += 1
      return true
    }

    /// The slot that contains the fingerprint, or the empty slot for it.
    private func slot(of fingerprint: UInt64) -> Int {
      var slot = Int(truncatingIfNeeded: fingerprint >> 1) & (slots.count - 1)
      while slots[slot] != 0, slots[slot] != fingerprint { slot = (slot + 1) & (slots.count - 1) }
      return slot
    }

    private mutating func grow() {
      let old = slots
      slots = Array(repeating: 0, count: max(64, 2 * old.count))
      for fingerprint in old where fingerprint != 0 { slots[slot(of: fingerprint)] = fingerprint }
    }
  }
}
