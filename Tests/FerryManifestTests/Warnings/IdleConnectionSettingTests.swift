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

  private static func session(_ settings: String, head: String = "") -> String {
    """
    version: 1
    name: photos
    \(head)
    sessions: { s: { \(settings) } }
    requests: { mark: { session: s, request: { method: PUT, url: http://127.0.0.1/mark } } }
    """
  }

  @Test func `is reported if packets are marked on a Unix domain socket`() {
    expectWarnings(
      Self.session("unix_socket: /run/upload.sock, 1️⃣service_type: background"),
      [
        ExpectedWarning(
          mark: "1️⃣", code: .idleConnectionSetting,
          message: "this has no effect: a Unix domain socket has no packets to mark",
          help: "remove it, or remove 'unix_socket'")
      ])
    expectWarnings(Self.session("service_type: background"), [])
    expectWarnings(Self.session("unix_socket: /run/upload.sock, service_type: default"), [])
  }

  @Test func `is reported if a limit has a time zone but does not depend on the time`() {
    let expected = ExpectedWarning(
      mark: "1️⃣", code: .idleConnectionSetting,
      message: "this has no effect: the limit does not depend on the time of day",
      help: "remove it, or write a timetable such as \"08:00 1MB, 18:00 off\"")
    let limit = "max_bandwidth: { limit: 1MB, 1️⃣time_zone: Europe/Berlin }"
    expectWarnings(Self.session(limit), [expected])
    expectWarnings(Self.session("", head: limit), [expected])
    let timetable = "max_bandwidth: { limit: \"08:00 1MB, 18:00 off\", time_zone: Europe/Berlin }"
    expectWarnings(Self.session(timetable, head: timetable), [])
  }

  @Test func `is not reported if a request may have TLS`() {
    expectWarnings(Self.text("https://example.com/mark"), [])
  }
}
