import FerryManifest
import Testing

@Suite struct `A warning about 'auth'` {
  private static func text(_ session: String, _ auth: String) -> String {
    """
    version: 1
    name: photos
    sessions: { s: \(session) }
    requests:
      mark: { session: s, request: { method: PUT, url: https://example.com/mark }, auth: \(auth) }
    """
  }

  @Test func `is reported if the session has no credentials to omit`() {
    expectWarnings(
      Self.text("{}", "1️⃣none"),
      [
        ExpectedWarning(
          mark: "1️⃣", code: .idleAuth, message: "this has no effect: the session 's' has no 'auth'",
          help: "remove it")
      ])
    expectWarnings(Self.text("{ auth: { user: u } }", "none"), [])
  }

  @Test func `is reported if no scheme can be preemptive`() {
    expectWarnings(
      Self.text("{}", "{ scheme: digest, user: u, preemptive: 1️⃣true }"),
      [
        ExpectedWarning(
          mark: "1️⃣", code: .idleAuth, message: "this has no effect: it applies only to Basic credentials",
          help: "remove it")
      ])
    expectWarnings(Self.text("{}", "{ scheme: basic, user: u, preemptive: true }"), [])
  }
}
