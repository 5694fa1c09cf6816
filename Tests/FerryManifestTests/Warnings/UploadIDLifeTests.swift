import Testing

@Suite struct `An upload ID without a life` {
  private static func text(
    _ session: String, allocate: String = "", capture: String = "id: { json: /id }",
    profile: String = "server"
  ) -> String {
    """
    version: 1
    name: a
    profile: \(profile)
    sessions: { 2️⃣s: { \(session) }, quick: {} }
    uploads:
      u:
        session: s
        files: { root: . }
        1️⃣allocate:
          session: quick
          request: { url: https://a.example/ids }
          capture: { \(capture) }
          \(allocate)
        transfer: { request: { url: "https://a.example/${allocate.id}" } }
    """
  }

  private static func warning(_ note: String, at mark: Character) -> ExpectedWarning {
    ExpectedWarning(
      mark: "1️⃣", code: .uploadIDWithoutLife, message: "an upload ID may expire while its transfer is waiting",
      help: "specify how long the ID is valid, such as 'valid_for: 1h', or capture 'expires_in'",
      notes: [(mark, note)])
  }

  @Test func `is reported in a discretionary session`() {
    for word in ["true", "inferred"] {
      expectWarnings(
        Self.text("kind: background, discretionary: 3️⃣\(word)"),
        [Self.warning("session 's' is discretionary", at: "3️⃣")])
    }
  }

  @Test func `is reported if the profile infers it`() {
    expectWarnings(
      Self.text("kind: background", profile: "ios"),
      [
        Self.warning(
          "session 's' is discretionary in the background, because of the profile ios", at: "2️⃣")
      ])
  }

  @Test func `is not reported in a session that does not wait`() {
    expectWarnings(Self.text("kind: background"), [])
    expectWarnings(Self.text("discretionary: false", profile: "ios"), [])
  }

  @Test func `is not reported if its life is known`() {
    expectWarnings(Self.text("discretionary: true", allocate: "valid_for: 1h"), [])
    for name in ["expires_in", "expires_at"] {
      expectWarnings(
        Self.text("discretionary: true", capture: "id: { json: /id }, \(name): { json: /e }"), [])
    }
  }
}
