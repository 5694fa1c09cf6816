import FerryManifest
import Testing

/// Values from the environment or the command line may be secrets, so messages, which go into logs, must not contain
/// them.
@Suite struct `A value from outside` {
  @Test(arguments: [
    "session: VALUE", "session: quick, token: VALUE", "session: quick, needs: [VALUE]",
    "session: quick, capture: { a: { header: VALUE } }", "session: quick, capture: { a: { json: VALUE } }",
    "session: quick, retry: { initial: VALUE }", "session: quick, retry: { limit: VALUE }",
    "session: quick, when: VALUE", "session: quick, expect: { status: [VALUE] }",
  ])
  func `is in no message`(_ keys: String) {
    for (secret, name) in [
      ("12hunter", "env.S"), ("hun ter.2", "env.S"), ("12hunter", "vars.given"), ("12hunter", "vars.chained"),
    ] {
      let reading = read(
        head + """
          vars: { given: { required: true }, inner: "${env.S}", chained: "${vars.inner}" }
          requests:
            r: { request: { url: https://example.com/ }, \(keys.replacing("VALUE", with: "\"${\(name)}\"")) }
          """, environment: ["S": secret], variables: ["given": secret])
      #expect(!secret.contains(" ") || reading.manifest == nil)
      let told = DiagnosticFormatter(sources: reading.sources).text(reading.diagnostics)
      #expect(!told.contains("hun"), "\(told)")
    }
  }

  @Test func `is in no message by way of a for_each`() {
    let reading = read(
      head + """
        fetches:
          f:
            for_each: { a: { s: "${env.S}" }, b: { s: "x ${env.S}" } }
            session: "${each.value.s}"
            request: { url: https://example.com/, method: "x${each.value.s}" }
            save_to: "${each.key}"
        """, environment: ["S": "hunter"])
    #expect(
      reading.diagnostics.map(\.message) == [
        "unknown session; its name comes from outside the manifest and is not shown",
        "'method' has an invalid value",
        "an HTTP method is a single word",
      ])
  }

  @Test func `is distinguished from text of the manifest`() {
    expectMistakes(
      head + """
        vars: { name: slow }
        requests:
          r: { session: 1️⃣"${vars.name}", request: { url: https://example.com/ } }
          s: { session: 2️⃣"${env.S:-late}", request: { url: https://example.com/ } }
        """, [("1️⃣", "unknown session 'slow'"), ("2️⃣", "unknown session 'late'")])
  }
}
