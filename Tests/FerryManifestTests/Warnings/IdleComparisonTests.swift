import Testing

@Suite struct `An idle comparison` {
  private static func text(_ keys: String) -> String {
    """
    version: 1
    name: a
    sessions: { one: {} }
    uploads:
      u:
        session: one
        files: { root: . }
        \(keys)
        transfer: { request: { url: "https://a.example/${file.path}" } }
    """
  }

  @Test(arguments: ["once", "every_run"])
  func `is reported if nothing is compared`(_ deliver: String) {
    expectWarnings(
      Self.text("deliver: 2️⃣\(deliver)\n    compare: 1️⃣content"),
      [
        ExpectedWarning(
          mark: "1️⃣", code: .idleComparison,
          message:
            "this has no effect: with 'deliver: \(deliver)', files are not compared with earlier deliveries",
          help: "remove it, or write 'deliver: when_changed'",
          notes: [("2️⃣", "'deliver' is set here")])
      ])
  }

  @Test func `is not reported if changed files are sent, the default`() {
    expectWarnings(Self.text("compare: content"), [])
    expectWarnings(Self.text("deliver: when_changed\n    compare: content"), [])
  }

  @Test(arguments: ["once", "when_changed", "every_run"])
  func `is not reported if it has no effect in any case`(_ deliver: String) {
    expectWarnings(Self.text("deliver: \(deliver)\n    compare: modification"), [])
  }
}
