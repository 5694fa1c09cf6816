/// The readers of untrusted text that `scripts/fuzz` tests, by their names there.
///
/// All files in this folder except `ReaderFuzz.swift` belong to both the fuzzer and the tests, so that they check the
/// same invariants.
enum FuzzTarget: String, CaseIterable {
  case capture
  case cron
  case glob
  case head
  case journal
  case json
  case moment
  case name
  case quantity
  case retryAfter = "retry-after"
  case timeline
  case url

  /// Reads the bytes and returns a sentence for each violated invariant.
  func violations(by input: [UInt8]) -> [String] {
    switch self {
    case .capture: CaptureInvariants.violations(by: input)
    case .cron: CronInvariants.violations(by: input)
    case .glob: GlobInvariants.violations(by: input)
    case .head: HeadInvariants.violations(by: input)
    case .journal: JournalInvariants.violations(by: input)
    case .json: JSONInvariants.violations(by: input)
    case .moment: MomentInvariants.violations(by: input)
    case .name: NameInvariants.violations(by: input)
    case .quantity: QuantityInvariants.violations(by: input)
    case .retryAfter: RetryAfterInvariants.violations(by: input)
    case .timeline: TimelineInvariants.violations(by: input)
    case .url: URLInvariants.violations(by: input)
    }
  }
}

extension [UInt8] {
  /// The parts of an input, for readers of several texts. 0x1E separates them; only the last part may contain it.
  func parts(atMost most: Int) -> [[UInt8]] {
    split(separator: 0x1E, maxSplits: most - 1, omittingEmptySubsequences: false).map(Array.init)
  }

  var text: String { String(decoding: self, as: UTF8.self) }
}

extension String {
  /// Whether both strings have the same bytes.
  ///
  /// Swift's `==` treats canonically equivalent strings as equal; servers do not.
  func isSame(as other: String) -> Bool { utf8.elementsEqual(other.utf8) }
}
