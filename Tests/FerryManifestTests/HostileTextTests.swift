import FerryManifest
import Testing

@Suite struct `Hostile text` {
  @Test(arguments: 1...8)
  func `with letters changed, removed and doubled is rejected or read without a crash`(_ seed: UInt64) {
    var random = SeededGenerator(state: seed)
    let good = Array(
      (head + """
        vars: { a: "${env.A:-b}", c: "${vars.a}" }
        tokens:
          t:
            session: quick
            request: { url: "http://h/${vars.c}", form: { k: 'it''s' } }
            capture: { x: { regex: "a(b)" }, y: { json: /a~1b } }
            apply: { header: X-Token, value: "é ${token.x}" }
        uploads:
          u: &u
            session: long
            token: t
            files: { include: ["*.{a,b}", "[!x]"] }
            batch: { max_bytes: 5MB }
            transfer: { request: { url: "http://h/${file.path}" } }
        requests:
          q: &q { session: quick, request: { url: http://h/ } }
          r: { <<: *q, needs: [u], request: { url: http://h/, json: [0x1F, .5, ~, *u] } }
          s:
            <<: [*q, { needs: [r] }]
            request:
              url: >-
                http://h/${vars.c}
              body: |
                ${run.id}
                  x ${vars.a}
        """).utf8)
    let spice = Array("${}[]&*!|>'\"%@`\t\n:-?,#~\\".utf8) + [0, 0xC3, 0xFF, 0xE2]
    for _ in 0..<60 {
      var bytes = good
      for _ in 0..<Int.random(in: 1...6, using: &random) {
        let index = Int.random(in: 0..<bytes.count, using: &random)
        switch Int.random(in: 0..<3, using: &random) {
        case 0: bytes[index] = spice.randomElement(using: &random) ?? 0
        case 1: bytes.remove(at: index)
        default: bytes.insert(spice.randomElement(using: &random) ?? 0, at: index)
        }
      }
      let reading = ManifestReader(environment: [:]).read(bytes, file: "m.yaml")
      #expect((reading.manifest == nil) == !reading.diagnostics.isEmpty)
      let source = SourceText(bytes, file: "m.yaml")
      #expect(
        DiagnosticFormatter(sources: [source]).text(reading.diagnostics).isEmpty
          == reading.diagnostics.isEmpty)
    }
  }

  @Test func `with a scalar of many megabytes and a mistake after it is reported in a few lines`() {
    let text = head + "vars: { a: \"" + String(repeating: "x", count: 8 << 20) + "${run.id}\" }"
    let found = read(text).diagnostics
    #expect(found.count == 1)
    let source = SourceText(Array(text.utf8), file: "m.yaml")
    #expect(DiagnosticFormatter(sources: [source]).text(found).utf8.count < 1_000)
  }

  @Test func `with aliases of one long text is limited to a mebibyte of it`() {
    let aliases = { (name: String) in Array(repeating: "*\(name)", count: 100).joined(separator: ",") }
    let text = """
      x: &x "\(String(repeating: "$${", count: 1_000))"
      a: &a [\(aliases("x"))]
      b: [\(aliases("a"))]

      """
    let found = read(text).diagnostics
    #expect(found.map(\.message) == ["aliases expand to more than 1 MiB of text"])
    #expect(found.first?.location.line == 3)
  }

  @Test func `with thousands of mistakes in its YAML gets a thousand diagnostics`() {
    #expect(read("[" + String(repeating: "!x a,", count: 5_000) + "]").diagnostics.count == 1_001)
    #expect(read("[" + String(repeating: "*a,", count: 5_000) + "]").diagnostics.count == 1_001)
  }

  @Test func `with a long name of an alias or an anchor is reported in one line`() {
    let name = String(repeating: "n", count: 5_000)
    let found = read("a: *\(name)\nb: &\(name) c\nd: *nnnn\n").diagnostics.filter { $0.code == .unknownAlias }
    #expect(found.count == 2)
    for diagnostic in found {
      #expect(diagnostic.message.count < 120)
      #expect(diagnostic.help.map { $0.count < 120 } == true)
    }
  }

  @Test func `with hundreds of names and an unknown one suggests only the first of them`() {
    let captures = (0..<500).map { "c\($0): { json: /x }" }.joined(separator: ", ")
    let found = read(
      head + """
        requests:
          a: { session: quick, request: { url: http://h/ }, capture: { \(captures) } }
          b: { session: quick, request: { url: "http://h/${requests.a.unlike}" } }

        """
    ).diagnostics
    #expect(found.count == 1)
    #expect(found.first?.help?.hasPrefix("use 'c0', 'c1', 'c2'") == true)
    #expect(found.first?.help?.hasSuffix("'c19' or another") == true)
  }

  @Test(.timeLimit(.minutes(5))) func `that refers to each of many captures looks each up once`() {
    let names = (0..<20_000).map { "c\($0)" }
    let captures = names.map { "\($0): { json: /a }" }.joined(separator: ", ")
    let references = names.map { "\"${requests.a.\($0)}\"" }.joined(separator: ", ")
    let time = ThreadTime.measure {
      let reading = read(
        head + """
          requests:
            a: { session: quick, request: { url: http://h/ }, capture: { \(captures) } }
            b: { session: quick, request: { url: http://h/, json: [\(references)] } }

          """)
      #expect(reading.manifest != nil)
    }
    // Comparing each reference with each name took several minutes.
    #expect(time < .seconds(40), "\(time)")
  }

  @Test func `with a thousand warnings is still rejected for the error after them`() {
    let variables = SourceText(Array((0..<1_100).map { "v\($0): x\n" }.joined().utf8), file: "vars.yaml")
    let text = head + "requests: { a: { session: none, request: { url: https://example.com/ } } }\n"
    let found = ManifestReader(environment: [:], variableFiles: [variables]).read(
      Array(text.utf8), file: "m.yaml")
    #expect(found.manifest == nil)
    #expect(found.diagnostics.filter { $0.severity == .error }.map(\.code) == [.unknownSession])
    #expect(found.diagnostics.count == 501)
  }

  @Test(.timeLimit(.minutes(1)))
  func `with one mapping of unknown keys that many aliases use is read without comparing them each time`() {
    let keys = (0..<60).map { "sesion-\($0): x" }.joined(separator: ", ")
    let aliases = (0..<1_000).map { "b\($0): *a" }.joined(separator: ", ")
    let found = read(head + "requests: { a: &a { \(keys) }, \(aliases) }\n")
    #expect(found.diagnostics.filter { $0.code == .unknownKey }.count == 60)
  }
}
