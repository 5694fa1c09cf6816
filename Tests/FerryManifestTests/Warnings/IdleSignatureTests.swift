import FerryManifest
import Testing

@Suite struct `A warning about 'sign: none'` {
  private static func text(_ session: String) -> String {
    """
    version: 1
    name: photos
    sessions: { s: \(session) }
    requests:
      mark: { session: s, request: { method: PUT, url: https://example.com/mark }, sign: 1️⃣none }
    """
  }

  @Test func `is reported if the session signs no requests`() {
    expectWarnings(
      Self.text("{}"),
      [
        ExpectedWarning(
          mark: "1️⃣", code: .idleSignature,
          message: "this has no effect: the session 's' signs no requests", help: "remove it")
      ])
  }

  @Test func `is not reported if the session signs them`() {
    expectWarnings(Self.text("{ sign: { aws_v4: {} } }"), [])
  }
}
