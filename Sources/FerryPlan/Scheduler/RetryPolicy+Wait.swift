import FerryManifest

extension RetryPolicy {
  /// The wait before retry `number` (counted from 1): `initial × factor^(number−1)`, at most `max`, varied
  /// by up to `±jitter` of that value.
  ///
  /// With the defaults (1 s, ×2, at most 300 s, ±25 %):
  ///
  /// | retry | without jitter | least | most |
  /// |---|---|---|---|
  /// | 1 | 1 s | 0.75 s | 1.25 s |
  /// | 2 | 2 s | 1.5 s | 2.5 s |
  /// | 5 | 16 s | 12 s | 20 s |
  /// | 10 | 300 s | 225 s | 375 s |
  ///
  /// - Parameter random: uniform in 0 … 1.
  package func wait(beforeRetry number: Int, random: Double) -> Duration {
    var seconds = initial.seconds
    // The loop stops at the maximum, so that a large number does not cause an overflow.
    for _ in 1..<Swift.max(1, number) {
      guard seconds < self.max.seconds else { break }
      seconds *= factor
    }
    seconds = Swift.min(seconds, self.max.seconds)
    return .seconds(fraction: seconds * (1 + jitter * (2 * random - 1)))
  }

  /// The wait before a retry. A Retry-After that the server has sent is honored up to `max`.
  package func wait(beforeRetry number: Int, retryAfter: Duration?, random: Double) -> Duration {
    let own = wait(beforeRetry: number, random: random)
    guard let retryAfter else { return own }
    return Swift.max(own, Swift.min(retryAfter, self.max))
  }
}
