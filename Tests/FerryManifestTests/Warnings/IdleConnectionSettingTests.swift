import FerryManifest
import Testing

@Suite struct `A warning about a setting of connections` {
  private static func text(_ url: String) -> String {
    """
    version: 1
    name: photos
    sessions: { s: { 1️⃣tls: { ca_file: ca.pem } } }
    requests:
      mark: { session: s, request: { method: PUT, url: "\(url)" } }
    """
  }

  @Test func `is reported if the session has no request with TLS`() {
    expectWarnings(
      Self.text("http://127.0.0.1/mark"),
      [
        ExpectedWarning(
          mark: "1️⃣", code: .idleConnectionSetting,
          message: "this has no effect: the session 's' sends no request to an https URL",
          help: "remove it, or use https URLs")
      ])
  }

  @Test func `is not reported if a request may have TLS`() {
    expectWarnings(Self.text("https://example.com/mark"), [])
  }
}
