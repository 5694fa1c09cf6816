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
