import FerryManifest
import Testing

@Suite struct `Hostile text` {
  @Test(arguments: 1...8)
  func `with letters changed, removed and doubled is told or read, and crashes nothing`(_ seed: UInt64) {
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

  @Test func `with a scalar of many megabytes and a mistake behind it is told in a few lines`() {
    let text = head + "vars: { a: \"" + String(repeating: "x", count: 8 << 20) + "${run.id}\" }"
    let found = read(text).diagnostics
    #expect(found.count == 1)
    let source = SourceText(Array(text.utf8), file: "m.yaml")
    #expect(DiagnosticFormatter(sources: [source]).text(found).utf8.count < 1_000)
  }
}
