import Testing

@Suite struct `An idle 'repeatable'` {
  private static func text(_ method: String, key: String = "repeatable: 1️⃣true") -> String {
    """
    version: 1
    name: a
    sessions: { one: {} }
    requests:
      r: { session: one, \(key), request: { method: \(method), url: "https://a.example/r" } }
    on_end:
      e: { session: one, request: { method: POST, url: "https://a.example/e" } }
    """
  }

  @Test(arguments: ["PUT", "GET", "DELETE", "MKCOL"])
  func `is reported for an idempotent method`(_ method: String) {
    expectWarnings(
      Self.text(method),
      [
        ExpectedWarning(
          mark: "1️⃣", code: .idleRepeatable,
          message: "this has no effect: a request with the method \(method) is always repeatable",
          help: "remove it")
      ])
  }

  @Test(arguments: ["POST", "PATCH", "MOVE"])
  func `is not reported for other methods`(_ method: String) { expectWarnings(Self.text(method), []) }

  @Test func `is not reported if it is false`() {
    expectWarnings(Self.text("PUT", key: "repeatable: false"), [])
  }
}

@Suite struct `An idle 'not_executed'` {
  private static let retry = "retry: { not_executed: 1️⃣[503] }"

  private static func text(_ upload: String) -> String {
    """
    version: 1
    name: a
    sessions: { one: {} }
    uploads:
      u:
        session: one
        files: { root: files }
        \(retry)
        \(upload)
    """
  }

  private static let request = #"request: { url: "https://a.example/${file.path}" }"#

  @Test(arguments: ["transfer: { \(request) }", "transfer: { protocol: tus, \(request) }"])
  func `is reported for an upload that may always be repeated`(_ upload: String) {
    expectWarnings(
      Self.text(upload),
      [
        ExpectedWarning(
          mark: "1️⃣", code: .idleRepeatable,
          message: "this has no effect: all requests of 'u' may be repeated, whatever the status",
          help: "remove it")
      ])
  }

  @Test(arguments: [
    "transfer: { protocol: post, \(request) }",
    "transfer: { \(request) }\n    commit: { request: { url: \"https://a.example/done\" }, already_done: { status: [409] } }",
  ])
  func `is not reported for requests that must not be repeated, and commits`(_ upload: String) {
    expectWarnings(Self.text(upload), [])
  }
}
