import FerryManifest
import Testing

@Suite struct `A filter of a reference` {
  private static let name = "Süß & gut/a\"b\\c.JPG"

  @Test(
    arguments: [
      (.url, name, "S%C3%BC%C3%9F%20%26%20gut/a%22b%5Cc.JPG"),
      (.query, name, "S%C3%BC%C3%9F%20%26%20gut%2Fa%22b%5Cc.JPG"),
      (.url, "-._~AZaz09*+%", "-._~AZaz09%2A%2B%25"), (.query, "-._~AZaz09*+%", "-._~AZaz09%2A%2B%25"),
      (.base64, "", ""), (.base64, "f", "Zg=="), (.base64, "fo", "Zm8="), (.base64, "foobar", "Zm9vYmFy"),
      (.base64, "??>", "Pz8+"), (.base64, "???", "Pz8/"),
      (.json, name, #"S\u00fc\u00df & gut/a\"b\\c.JPG"#),
      (.json, "\u{8}\t\n\u{C}\r\0\u{1F}\u{7F}\u{80}", #"\b\t\n\f\r\u0000\u001f\u007f\u0080"#),
      (.json, "\u{FFFF}\u{1F600}", #"\uffff\ud83d\ude00"#),
      (.lower, name, "süß & gut/a\"b\\c.jpg"), (.lower, "ÄİẞΣ", "äi\u{307}ßσ"),
      (.sha256, "", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
      (.sha256, "abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
    ] as [(ReferenceFilter, String, String)])
  func `has the expected result`(_ filter: ReferenceFilter, _ value: String, _ result: String) throws {
    #expect(String(decoding: try filter.apply(to: Array(value.utf8)), as: UTF8.self) == result)
  }

  @Test func `works on bytes if it needs no characters`() throws {
    let bytes: [UInt8] = [0x61, 0xFF, 0x2F, 0xC3]
    for (filter, result) in [
      (.url, "a%FF/%C3"), (.query, "a%FF%2F%C3"), (.base64, "Yf8vww=="),
      (.sha256, "fef763cb233e8b6958ea38b09600dfdabf9b000cf3640f5a3b146f4ef58d870d"),
    ] as [(ReferenceFilter, String)] {
      #expect(String(decoding: try filter.apply(to: bytes), as: UTF8.self) == result)
    }
    for filter in [ReferenceFilter.json, .lower] {
      let error = #expect(throws: ReferenceFilter.InvalidUTF8.self) { try filter.apply(to: bytes) }
      #expect(error?.filter == filter)
    }
  }

  @Test func `is applied from left to right, before or after others`() throws {
    func result(_ filters: ReferenceFilter...) throws -> String {
      String(decoding: try filters.apply(to: Array("A b".utf8)), as: UTF8.self)
    }
    #expect(try result() == "A b")
    #expect(try result(.lower, .url) == "a%20b")
    #expect(try result(.base64, .lower) == "qsbi")
    #expect(try result(.lower, .base64) == "YSBi")
    #expect(try result(.url, .url) == "A%2520b")
  }

  @Test func `is known to be percent-encoding if nothing encodes its result again`() {
    let encoding: [[ReferenceFilter]] = [
      [.url], [.query], [.lower, .query], [.url, .lower], [.url, .json],
    ]
    for filters in encoding { #expect(filters.arePercentEncoding, "\(filters)") }
    let others: [[ReferenceFilter]] = [
      [], [.lower], [.base64], [.json], [.url, .base64], [.query, .sha256],
    ]
    for filters in others { #expect(!filters.arePercentEncoding, "\(filters)") }
  }

  private func segments(
    _ text: String, vars: String = "{}", environment: [String: String] = [:]
  ) -> [Template.Segment]? {
    read(
      head + "vars: \(vars)\nrequests: { a: { session: quick, request: { url: \(text) } } }",
      environment: environment
    ).manifest?.requests.first?.request.url.segments
  }

  @Test(arguments: [
    "${run.id | lower | sha256}", "${run.id|lower|sha256}", "${run.id  |lower\t| sha256 }",
  ])
  func `is written after the reference, with or without blanks`(_ text: String) {
    #expect(
      segments("'http://h/\(text)'") == [
        .literal("http://h/"), .reference(.run(.id), filters: [.lower, .sha256]),
      ])
    #expect(
      Template([.reference(.run(.id), filters: [.lower, .sha256])]).description
        == "${run.id | lower | sha256}")
  }

  @Test func `is applied to variables and the environment when the manifest is read`() {
    #expect(segments("'http://h/${vars.a | url}/b'", vars: "{ a: 'x y' }") == [.literal("http://h/x%20y/b")])
    #expect(
      segments("'http://h/${env.A | base64}'", environment: ["A": "??>"])
        == [.literal("http://h/"), .value("Pz8+")])
    // The author of the manifest has encoded the value.
    #expect(segments("'http://h/${env.A | url}'", environment: ["A": "x y"]) == [.literal("http://h/x%20y")])
    #expect(segments("'http://h/${env.A:-A B | lower}'") == [.literal("http://h/"), .value("a b")])
  }

  @Test func `is valid in every kind of text, with the value that the text needs`() throws {
    let text = """
      version: 1
      name: ${vars.name | lower}
      vars: { name: Photos, word: BACKGROUND, digest: "${vars.name | lower | sha256}" }
      sessions: { quick: { kind: "${vars.word | lower}", identifier: "${env.X:-COM.EXAMPLE | lower}" } }
      uploads:
        photos:
          session: quick
          for_each: [EU]
          files: { root: "in/${each.key | lower}" }
          transfer:
            request: { url: "http://127.0.0.1/${each.value | sha256}", headers: { X: "${file.path | url}" } }
      requests:
        done: { session: quick, request: { url: http://127.0.0.1/, json: { a: "${run.done | lower}" } } }
        form: { session: quick, request: { url: http://127.0.0.1/, form: { a: "${run.id | query}" } } }
      """
    let reading = read(text)
    let manifest = try #require(reading.manifest, "\(reading.diagnostics)")
    #expect(manifest.name.value == "photos")
    #expect(manifest.sessions.first?.kind == .background)
    #expect(manifest.sessions.first?.identifier == "com.example")
    let upload = try #require(manifest.uploads.first)
    #expect(upload.files.root == "in/eu")
    #expect(
      upload.transfer.request.url.constant
        == "http://127.0.0.1/9170a8b2fb3234baa721bf8b3de5935d8d160f6f987215b83b07a49a403e5e74")
    #expect(
      upload.transfer.request.headers.map(\.value)
        == [Template([.reference(.file(.path), filters: [.url])])])
    #expect(
      manifest.requests.map(\.request.body) == [
        .json(
          .object([
            .init(name: "a", value: .string(Template([.reference(.run(.done), filters: [.lower])])))
          ])),
        .form([.init(name: "a", value: Template([.reference(.run(.id), filters: [.query])]))]),
      ])
  }

  @Test func `does not hide a secret in plain text from the check`() {
    let text = """
      version: 1
      name: photos
      vars: { login: "ferry:correct-horse-battery" }
      sessions: { quick: {} }
      requests:
        done:
          session: quick
          request: { url: https://example.com/, headers: { Authorization: "Basic ${vars.login | base64}" } }
      """
    #expect(read(text).diagnostics.map(\.code) == [.plainSecret])
  }

  @Test func `does not make variables grow without bound`() {
    let value = String(repeating: "x", count: 1 << 20)
    let quotes = String(repeating: "\\\\", count: 1 << 20)
    let text =
      "version: 1\nname: n\nvars: { a: \"\(value)\", b: \"\(quotes)\", c: \"${vars.b | json | json | json | json | json | json | json | json}\" }\n"
    #expect(
      read(text).diagnostics.map(\.message) == ["variables expand to more than 64 MiB of text in total"])
  }
}
