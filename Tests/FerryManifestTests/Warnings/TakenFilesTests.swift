import Testing

@Suite struct `Uploads that remove the files of another upload` {
  private static func text(_ uploads: (name: String, lines: [String])...) -> String {
    """
    version: 1
    name: a
    sessions: { quick: {} }
    uploads:

    """
      + uploads.map { name, lines in
        """
          \(name):
            session: quick
            transfer: { request: { url: "https://a.example/${file.path}" } }

        """ + lines.map { "    \($0)\n" }.joined()
      }.joined()
  }

  private static let request = """
    requests:
      end:
        session: quick
        needs: [b]
        request: { url: "https://a.example/end" }
        capture: { u: { json: /u } }

    """

  private static func warning(
    _ mark: Character, _ note: Character, other: String, help: String
  ) -> ExpectedWarning {
    ExpectedWarning(
      mark: mark, code: .takenFiles,
      message: "upload '\(other)' might not have sent these files before they are removed", help: help,
      notes: [(note, "'\(other)' sends files from the same folder")])
  }

  private static func waits(_ other: String) -> String {
    "add '\(other)' to 'needs' of this upload, or select different files in each"
  }

  @Test(arguments: ["in", "./in/", "in/deep", "."])
  func `are reported if the folders are the same or nested`(_ root: String) {
    expectWarnings(
      Self.text(
        ("1️⃣b", ["files: { root: \(root) }"]), ("c", ["files: { root: in }", "after: 2️⃣delete"])),
      [Self.warning("2️⃣", "1️⃣", other: "b", help: Self.waits("b"))])
  }

  @Test(arguments: [("list.txt", true), ("other.txt", false)])
  func `are reported if they have the same list`(_ list: String, isReported: Bool) {
    expectWarnings(
      Self.text(
        ("1️⃣b", ["files: { root: in, list: \(list) }"]),
        ("c", ["files: { root: in, list: list.txt }", "after: 2️⃣delete"])),
      isReported ? [Self.warning("2️⃣", "1️⃣", other: "b", help: Self.waits("b"))] : [])
  }

  @Test func `are reported at each upload that removes them, even if one waits`() {
    expectWarnings(
      Self.text(
        ("1️⃣b", ["files: { root: in }", "after: 3️⃣{ move_to: sent/ }"]),
        ("2️⃣c", ["needs: [b]", "files: { root: in }", "after: 4️⃣delete"])),
      [
        Self.warning("3️⃣", "2️⃣", other: "c", help: "select different files in each upload"),
        Self.warning("4️⃣", "1️⃣", other: "b", help: "select different files in each upload"),
      ])
  }

  @Test func `are not reported if that upload waits for the other, even indirectly`() {
    expectWarnings(
      Self.text(
        ("b", ["files: { root: in }"]), ("d", ["needs: [b]", "files: { root: other }"]),
        ("c", ["needs: [d]", "files: { root: in }", "after: delete"])), [])
  }

  @Test func `are not reported if that upload waits for a value from a request of the other`() {
    expectWarnings(
      Self.text(
        ("b", ["files: { root: in }"]),
        (
          "c",
          ["files: { root: in }", "after: delete", "allocate: { request: { url: \"${requests.end.u}\" } }"]
        ))
        + Self.request, [])
  }

  @Test(arguments: [
    ["{ root: in }", "{ root: inner }"],
    ["{ root: in, include: [\"*.jpg\"] }", "{ root: in, include: [\"*.png\", \"**/*.gif\"] }"],
    ["{ root: in, include: [\"raw/*.jpg\"] }", "{ root: in, include: [\"web/*.jpg\"] }"],
    ["{ root: in/sub }", "{ root: in, exclude: [sub/**] }"], ["{ root: in/sent/x }", "{ root: in }"],
    ["{ root: in, list: some }", "{ root: in }"],
  ])
  func `are not reported for other folders, extensions or lists`(_ files: [String]) {
    expectWarnings(
      Self.text(("b", ["files: \(files[0])"]), ("c", ["files: \(files[1])", "after: { move_to: sent/ }"])), []
    )
  }
}
