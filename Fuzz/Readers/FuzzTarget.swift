/// The readers of outside text that `scripts/fuzz` feeds, by the names that it knows them by.
///
/// The fuzzer and the tests check the same: all files of this folder but `ReaderFuzz.swift` belong to both.
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

  /// Reads the bytes and returns what is not as it must be, one sentence each.
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
  /// The parts of an input for readers that take several texts: 0x1E is between them, and in none of them.
  func parts(atMost most: Int) -> [[UInt8]] {
    split(separator: 0x1E, maxSplits: most - 1, omittingEmptySubsequences: false).map(Array.init)
  }

  var text: String { String(decoding: self, as: UTF8.self) }
}

extension String {
  /// Swift's `==` takes differently composed letters for the same; no server does.
  func isSame(as other: String) -> Bool { utf8.elementsEqual(other.utf8) }
}
