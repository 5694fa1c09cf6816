/// Limits the memory used by the details of a launch's failures.
///
/// Equal strings are stored once. Once the distinct strings have reached the limit, new ones are dropped, so that a
/// server that responds with a different string to each of a million requests cannot fill the memory.
struct FailureDetails: Sendable {
  /// The limit in bytes of UTF-8, including `overhead` for each string.
  static let limit = 16 << 20
  private static let overhead = 96
  /// The maximum number of details without a URL.
  private static let sharedLimit = 10_000

  private var texts: Set<String> = []
  /// Details without a URL. Equal ones are stored once instead of for each failure.
  private var shared: Set<FailureDetail> = []
  private var bytes = 0

  /// Returns the part of the detail that the limit allows to be kept; `nil` if nothing is kept.
  mutating func kept(_ detail: FailureDetail?) -> FailureDetail? {
    guard let detail else { return nil }
    // Nearly every failure has its own URL. URLs use at most half of the limit, to leave room for the bodies.
    let url = detail.url.flatMap { charge($0.utf8.count + Self.overhead, below: Self.limit / 2) ? $0 : nil }
    let kept = FailureDetail(
      method: detail.method, url: url, proxy: detail.proxy.flatMap { stored($0) },
      reasonPhrase: detail.reasonPhrase.flatMap { stored($0) }, body: detail.body.flatMap { stored($0) })
    guard url == nil else { return kept }
    guard kept != FailureDetail() else { return nil }
    if let known = shared.firstIndex(of: kept) { return shared[known] }
    guard shared.count < Self.sharedLimit else { return nil }
    shared.insert(kept)
    return kept
  }

  private mutating func stored(_ text: String) -> String? {
    if let known = texts.firstIndex(of: text) { return texts[known] }
    guard charge(text.utf8.count + Self.overhead, below: Self.limit) else { return nil }
    texts.insert(text)
    return text
  }

  private mutating func charge(_ count: Int, below limit: Int) -> Bool {
    guard bytes + count <= limit else { return false }
    bytes += count
    return true
  }
}
