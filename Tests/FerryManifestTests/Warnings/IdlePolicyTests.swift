import Testing

@Suite("A policy that has no effect")
struct IdlePolicyTests {
  private static func text(session: String, _ policies: String) -> String {
    """
    version: 1
    name: a
    \(policies)
    sessions:
      s: { \(session) }
    uploads:
      u: { session: s, files: { root: . }, transfer: { request: { url: "https://a.example/${file.path}" } } }
    """
  }

  struct Case: Sendable {
    var session = "kind: default"
    var policies: String
    var reason: String
    var help: String
    /// A session in which the policy has an effect.
    var other: String
  }

  private static let cases: [Case] = [
    Case(
      policies: "budgets: { 1️⃣wired: { limit: 1GB, per: day, binds: discretionary } }",
      reason: "it limits discretionary sessions, and no session is discretionary",
      help: "limit every session with 'binds: all', or make a session 'discretionary: true'",
      other: "discretionary: true"),
    Case(
      session: "allows_expensive: false", policies: "budgets: { 1️⃣cellular: { limit: 1GB, per: day } }",
      reason: "no session may use a cellular network",
      help: "remove it, or set a session's 'allows_cellular' and 'allows_expensive' to true",
      other: "allows_cellular: true"),
    Case(
      policies: "conditions: { 1️⃣network: wifi }",
      reason: "no session and no budget depends on the kind of network",
      help: "remove it, or restrict a session with 'allows_cellular' or 'discretionary'",
      other: "allows_cellular: false"),
    Case(
      policies: "conditions: { 1️⃣power: battery }",
      reason: "no session is discretionary, so none waits for external power",
      help: "remove it, or make a session 'discretionary: true'", other: "discretionary: true"),
    Case(
      session: "kind: background", policies: "execution_window: { 1️⃣background: 30s }",
      reason: "every session is a background session, and windows do not limit background sessions",
      help: "remove it, or use a session of a different kind for requests that must not outlive the launch",
      other: "kind: ephemeral"),
    Case(
      policies: "resume_delay: { 1️⃣policy: before_start }",
      reason: "no session is a background session, and only background sessions are delayed",
      help: "remove it, or use a session of 'kind: background'", other: "kind: background"),
  ]

  @Test(arguments: cases.indices)
  func isReported(index: Int) {
    let example = Self.cases[index]
    expectWarnings(
      Self.text(session: example.session, example.policies),
      [
        ExpectedWarning(
          mark: "1️⃣", code: .idlePolicy, message: "this has no effect: \(example.reason)", help: example.help)
      ])
    expectWarnings(Self.text(session: example.other, example.policies), [])
  }

  @Test func isReportedForEachKeyOfADelayWithoutAPolicy() {
    expectWarnings(
      Self.text(session: "kind: background", "resume_delay: { 1️⃣initial: 5s, 2️⃣max: 1h, 3️⃣reset: foreground }"),
      ["1️⃣", "2️⃣", "3️⃣"].map {
        ExpectedWarning(
          mark: $0, code: .idlePolicy,
          message: "this has no effect: the policy is 'none', so nothing is delayed",
          help: "remove it, or choose 'policy: before_start' or 'policy: after_completion'")
      })
  }

  @Test func isReportedForAnInferenceOutsideOfABackgroundSession() {
    expectWarnings(
      Self.text(session: "discretionary: 1️⃣inferred", ""),
      [
        ExpectedWarning(
          mark: "1️⃣", code: .idlePolicy,
          message: "this has no effect: 'inferred' applies only to background sessions",
          help: "remove it, or use 'kind: background'")
      ])
    expectWarnings(Self.text(session: "kind: background, discretionary: inferred", ""), [])
  }

  @Test func isReportedForACommandOfAWindowThatNoLaunchHas() {
    expectWarnings(
      Self.text(session: "kind: default", "execution_window: { 1️⃣on_expiry: [./ended] }"),
      [
        ExpectedWarning(
          mark: "1️⃣", code: .idlePolicy,
          message: "this has no effect: no kind of launch has an execution window",
          help: "remove it, or set a window, such as 'background: 30s'")
      ])
    expectWarnings(
      Self.text(session: "kind: background", "execution_window: { event: 5s, on_expiry: [./ended] }"), [])
    expectWarnings(
      Self.text(session: "kind: default", "profile: ios\nexecution_window: { on_expiry: [./ended] }"), [])
  }

  @Test func isNotReportedForTheDefaultsOfAProfile() {
    expectWarnings(Self.text(session: "kind: default, discretionary: false", "profile: ios"), [])
  }

  @Test func isNotReportedIfABudgetNeedsTheNetwork() {
    expectWarnings(
      Self.text(
        session: "kind: default", "conditions: { network: wifi }\nbudgets: { wifi: { limit: 1GB, per: day } }"
      ),
      [])
  }
}
