import Testing

@Suite struct `An unused session` {
  @Test func `is reported at its name`() {
    expectWarnings(
      """
      version: 1
      name: a
      sessions:
        quick: {}
        1️⃣idle: {}
      requests: { r: { session: quick, request: { url: https://a.example/ } } }
      """,
      [
        ExpectedWarning(
          mark: "1️⃣", code: .unusedSession, message: "session 'idle' is not used",
          help: "remove it, or refer to it with 'session:'")
      ])
  }

  @Test func `is not reported if a step or a token names it`() {
    expectWarnings(
      """
      version: 1
      name: a
      sessions: { a: {}, b: {}, c: {}, d: {}, e: {} }
      tokens:
        t:
          session: a
          request: { url: https://a.example/token }
          capture: { x: { json: /x } }
          apply: { header: Authorization, value: "Bearer ${token.x}" }
      uploads:
        u:
          session: b
          files: { root: . }
          allocate: { session: c, request: { url: https://a.example/ids }, capture: { id: { json: /id } } }
          transfer: { request: { url: "https://a.example/${allocate.id}" } }
          commit: { session: d, request: { url: "https://a.example/${allocate.id}/commit" } }
          abandon: { session: e, request: { url: "https://a.example/${allocate.id}" } }
      """, [])
  }

  @Test func `is not reported together with an error`() {
    expectMistakes(
      """
      version: 1
      name: a
      sessions: { quick: {}, idle: {} }
      requests: { r: { session: 1️⃣quik, request: { url: https://a.example/ } } }
      """, [("1️⃣", "unknown session 'quik'")])
  }
}
