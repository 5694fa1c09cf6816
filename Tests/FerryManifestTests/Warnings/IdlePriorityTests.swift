import Testing

@Suite struct `An idle priority` {
  private static func text(
    session: String = "max_connections_per_host: 2️⃣1", priority: String = "priority: 1️⃣high",
    _ more: String = ""
  ) -> String {
    """
    version: 1
    name: a
    sessions:
      one: { \(session) }
    uploads:
      u:
        session: one
        files: { root: . }
        \(priority)
        transfer: { request: { url: "https://a.example/${file.path}" } }
    \(more)
    """
  }

  @Test func `is reported if its batch is alone on one connection`() {
    expectWarnings(
      Self.text(),
      [
        ExpectedWarning(
          mark: "1️⃣", code: .idlePriority,
          message: "this priority has no effect: no other batch uses session 'one'",
          help: "remove it, or let a batch with a lower priority use the same session",
          notes: [("2️⃣", "the session has one connection")])
      ])
  }

  @Test func `is not reported if it is not given`() { expectWarnings(Self.text(priority: ""), []) }

  @Test func `is not reported with more connections`() {
    expectWarnings(Self.text(session: "max_connections_per_host: 2"), [])
    expectWarnings(Self.text(session: "kind: background"), [])
  }

  @Test func `is not reported if others wait in the session`() {
    expectWarnings(
      Self.text(
        """
          v:
            session: one
            files: { root: . }
            transfer: { request: { url: "https://a.example/${file.path}" } }
        """), [])
    expectWarnings(
      Self.text("fetches: { f: { session: one, request: { url: https://a.example/ }, save_to: f } }"), [])
    expectWarnings(Self.text("requests: { r: { session: one, request: { url: https://a.example/ } } }"), [])
  }

  @Test func `is not reported if a for_each makes several batches`() {
    expectWarnings(Self.text(priority: "for_each: [eu, us]\n    priority: high"), [])
  }

  @Test func `is not reported if a step uses a session that others use`() {
    expectWarnings(
      """
      version: 1
      name: a
      sessions: { one: { max_connections_per_host: 1 }, quick: {} }
      uploads:
        u:
          session: one
          files: { root: . }
          priority: high
          allocate: { session: quick, request: { url: https://a.example/ids }, capture: { id: { json: /id } } }
          transfer: { request: { url: "https://a.example/${allocate.id}" } }
      requests: { r: { session: quick, request: { url: https://a.example/ } } }
      """, [])
  }

  @Test func `is not reported if other manifests may share the session`() {
    expectWarnings(Self.text(session: "identifier: com.example.one, max_connections_per_host: 1"), [])
  }
}
