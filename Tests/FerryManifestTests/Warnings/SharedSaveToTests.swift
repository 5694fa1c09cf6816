import Testing

@Suite struct `Fetches that save to one file` {
  private static func text(_ paths: String...) -> String {
    """
    version: 1
    name: a
    sessions: { quick: {} }
    fetches:

    """
      + paths.enumerated().map { index, path in
        """
          f\(index):
            session: quick
            request: { url: https://a.example/\(index) }
            save_to: \(path)

        """
      }.joined()
  }

  private static func warning(_ mark: Character, _ first: Character = "1️⃣") -> ExpectedWarning {
    ExpectedWarning(
      mark: mark, code: .sharedSaveTo, message: "another fetch also saves to this file",
      help: "the two replace each other's file; give each a separate file",
      notes: [(first, "'f0' saves to the same file here")])
  }

  @Test func `are reported at the second`() {
    expectWarnings(
      Self.text("1️⃣a.json", "b.json", "2️⃣a.json", "3️⃣a.json"), [Self.warning("2️⃣"), Self.warning("3️⃣")])
  }

  @Test func `are recognized by the meaning of the path`() {
    expectWarnings(
      Self.text("1️⃣in/a.json", "2️⃣./in//a.json", "3️⃣in/./a.json"), [Self.warning("2️⃣"), Self.warning("3️⃣")])
  }

  @Test func `may come from one for_each`() {
    expectWarnings(
      """
      version: 1
      name: a
      sessions: { quick: {} }
      fetches:
        1️⃣f:
          for_each: [eu, us, asia]
          session: quick
          request: { url: "https://${each.key}.a.example/" }
          save_to: 2️⃣a.json
      """,
      [
        ExpectedWarning(
          mark: "2️⃣", code: .sharedSaveTo, message: "another fetch also saves to this file",
          help: "the two replace each other's file; give each a separate file",
          notes: [("1️⃣", "'f[eu]' saves to the same file here")])
      ])
  }

  @Test func `are not reported if their paths differ in case or folder`() {
    expectWarnings(Self.text("a.json", "A.json", "in/a.json", "a.json/b"), [])
  }

  @Test func `are reported together with items of download batches`() {
    expectWarnings(
      """
      version: 1
      name: a
      sessions: { quick: {} }
      downloads:
        d: { session: quick, items: [{ url: https://a.example/1, save_to: 3️⃣in/a.json }] }
        e: { session: quick, items: [{ url: https://a.example/1, save_to: b.json }, { url: https://a.example/2, save_to: 2️⃣a.json }] }
        g: { session: quick, items: [{ url: https://a.example/1, save_to: 4️⃣./in/a.json }] }
      fetches:
        f: { session: quick, request: { url: https://a.example/ }, save_to: 1️⃣a.json }
      """,
      [
        ExpectedWarning(
          mark: "2️⃣", code: .sharedSaveTo, message: "another fetch also saves to this file",
          help: "the two replace each other's file; give each a separate file",
          notes: [("1️⃣", "'f' saves to the same file here")]),
        ExpectedWarning(
          mark: "4️⃣", code: .sharedSaveTo, message: "another download also saves to this file",
          help: "the two replace each other's file; give each a separate file",
          notes: [("3️⃣", "'d' saves to the same file here")]),
      ])
  }
}
