import FerryManifest
import Testing

@Suite struct `Plain scalars` {
  @Test(
    "mean what the core schema of YAML 1.2 says",
    arguments: [
      ("", .null), ("~", .null), ("null", .null), ("Null", .null), ("NULL", .null), ("nULL", .string),
      ("true", .bool(true)), ("True", .bool(true)), ("TRUE", .bool(true)), ("tRUE", .string),
      ("false", .bool(false)), ("yes", .string), ("no", .string), ("on", .string), ("off", .string),
      ("y", .string),
      ("0", .integer(0)), ("-12", .integer(-12)), ("+12", .integer(12)), ("007", .integer(7)),
      ("0o17", .integer(15)),
      ("0x1F", .integer(31)), ("0o18", .string), ("0xG", .string), ("0x", .string), ("-0x1F", .string),
      ("0b1", .string), ("1_000", .string), ("12:30", .string), ("2026-01-02", .string),
      ("9223372036854775807", .integer(.max)), ("9223372036854775808", .hugeInteger),
      ("0xFFFFFFFFFFFFFFFFF", .hugeInteger),
      ("1.5", .float(1.5)), ("-.5", .float(-0.5)), ("1.", .float(1)), ("1e3", .float(1_000)),
      ("1e+3", .float(1_000)),
      ("1E-3", .float(0.001)), (".", .string), ("1e", .string), ("e3", .string), ("+", .string),
      ("-", .string),
      ("1.2.3", .string), (".inf", .float(.infinity)), ("-.INF", .float(-.infinity)), ("inf", .string),
    ] as [(String, YAMLScalar.Value)])
  func meaning(_ text: String, _ value: YAMLScalar.Value) {
    #expect(YAMLScalar.resolve(text) == value)
  }

  @Test func `NaN is a number`() {
    guard case .float(let value) = YAMLScalar.resolve(".nan") else {
      Issue.record("no float")
      return
    }
    #expect(value.isNaN)
  }

  @Test func `in quotes they are strings, and a tag decides against the quotes`() {
    let text = "[\"5\", '5', !!str 5, !!int \"5\", ! 5]"
    let elements = YAMLDocument(SourceText(Array(text.utf8), file: "m.yaml")).root?.elements
    #expect(elements?.map(\.scalar?.value) == [.string, .string, .string, .integer(5), .string])
  }
}
