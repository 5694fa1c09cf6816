import FerryManifest

/// The outcome of a case of the yaml-test-suite.
enum YAMLTestSuiteOutcome: Hashable {
  /// ferry reads the value that the suite specifies, or rejects text that is not YAML according to the suite.
  case asTheSuiteSays
  /// libyaml reads the text, but ferry rejects it with this code.
  case refused(DiagnosticCode)
  /// libyaml rejects text that is YAML according to the suite.
  case refusedByLibYAML
  /// ferry reads text that is not YAML according to the suite.
  case accepted
  /// ferry reads the text with another meaning.
  case readOtherwise
  /// ferry reads the text, but the suite has no JSON to compare.
  case notCompared
}

/// Cases of the yaml-test-suite in which ferry's reader differs from the suite, with the reasons.
struct YAMLTestSuiteDifference {
  var reason: String
  var outcome: YAMLTestSuiteOutcome
  /// The IDs of the cases, separated by spaces.
  var cases: String

  /// All differences. A difference that no longer occurs fails the test and must be removed. docs/yaml.md explains the
  /// reasons.
  static let all = refusals + strictness + leniency

  /// YAML that ferry rejects by design.
  private static let refusals: [YAMLTestSuiteDifference] = [
    .init(
      reason: "a manifest is one document", outcome: .refused(.secondDocument),
      cases: "35KP 6XDY 6ZKB 9DXL 9KAX JHB9 KSS4 L383 PUW8 RZT7 U9NS"),
    .init(
      reason: "a manifest is not empty", outcome: .refused(.emptyManifest),
      cases: "8G76 98YD AVM7"),
    .init(
      reason: "keys are strings", outcome: .refused(.keyNotString),
      cases: """
        4FJ6 6BFJ 6PBE 9MMW DFF7 FH7J KK5P LX3P M2N8/01 M5DY PW8X Q9WF RZP5 SBG9 V9D5 X38W XW4D
        """),
    .init(
      reason: "tags are those of the core schema", outcome: .refused(.unknownTag),
      cases: """
        2XXW 565N 5TYM 6CK3 6WLZ 7FWL 9WXW C4HZ CC74 CUP7 J7PZ M5C3 P76L UGM3 Z67P Z9M4
        """),
  ]

  /// Valid YAML 1.2 that libyaml rejects.
  private static let strictness: [YAMLTestSuiteDifference] = [
    .init(
      reason: "a tab before content, or alone on a line", outcome: .refusedByLibYAML,
      cases: "6BCT 6CA3 96NN 96NN/01 A2M4 DK95 DK95/03 DK95/04 Q5MG R4YG Y79Y/01 Y79Y/10"),
    .init(
      reason: "an empty key in a block mapping, or an alias as one", outcome: .refusedByLibYAML,
      cases: "2JQS 6M2F M2N8 NHX8 NKF9 S3PD SM9W/01 UKK6"),
    .init(
      reason: "inside { } and [ ], a ':' at a value's start or end, or on another line than its key",
      outcome: .refusedByLibYAML,
      cases: """
        4ABK 4MUZ 4MUZ/01 4MUZ/02 58MP 5MUD 5T43 9SA2 CFD4 DBG4 FRK4 HM87 K3WX NJ66 UT92 VJP3/01
        """),
    .init(
      reason: "a directive that YAML reserves, or a later version of YAML", outcome: .refusedByLibYAML,
      cases: "2LFX 6LVF BEC7 MUS6/05 MUS6/06"),
    .init(
      reason: "'...' with nothing before it, or something other than '---' or directives behind it",
      outcome: .refusedByLibYAML, cases: "7Z25 HWV9 M7A3 QT73 W4TN"),
    .init(
      reason: "a block scalar of the whole document that is not indented", outcome: .refusedByLibYAML,
      cases: "DK3J FP8R"),
    .init(
      reason: "an anchor's name with more than letters, digits, '-' and '_'", outcome: .refusedByLibYAML,
      cases: "2SXE 8XYN W5VH"),
  ]

  /// Text that libyaml reads although it is invalid YAML, or to which libyaml gives another meaning.
  private static let leniency: [YAMLTestSuiteDifference] = [
    .init(
      reason: "a comment without a blank before its '#'", outcome: .accepted,
      cases: "9JBA CVW2 MUS6 SU5Z X4QW"),
    .init(
      reason: "lines of a flow collection or a quoted text that are indented too little, or by tabs",
      outcome: .accepted, cases: "9C9N DK95/01 QB6E Y79Y/03"),
    .init(
      reason: "a '-' alone inside [ ]", outcome: .accepted, cases: "G5U8 YJV2"),
    .init(
      reason: "a block scalar that begins with empty lines longer than its indentation", outcome: .accepted,
      cases: "S98Z"),
    .init(
      reason: "inside { } and [ ], libyaml takes a '?' before a word for the sign of a key",
      outcome: .refused(.syntax),
      cases: "652Z HM87/01"),
    .init(
      reason: "libyaml ends a name of an anchor at a ':'", outcome: .refused(.syntax), cases: "Y2GN"),
    .init(
      reason: "blanks on the last line, which has no end, are no line of a block scalar",
      outcome: .readOtherwise, cases: "JEF9/02 L24T/01"),
    .init(
      reason: "'!' alone makes an empty text, which the suite has no JSON of", outcome: .notCompared,
      cases: "UKK6/02"),
  ]
}
