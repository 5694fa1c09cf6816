import Testing

@testable import FerryTransfer

struct TemporaryNameTests {
  @Test(arguments: [
    ".doc.ferry-part-3w5e11264sgsf", ".doc.ferry-part-0", ".ferry-part-a1", "..ferry-part-x.ferry-part-1",
    TemporaryName.anonymous, TemporaryName.prefix(for: "doc") + TemporaryName.random,
    TemporaryName.prefix(for: String(repeating: "é", count: 127)) + TemporaryName.random,
    TemporaryName.prefix(for: "\u{301}a") + TemporaryName.random,
  ])
  func aTemporaryFileIsRecognizedByItsName(_ name: String) {
    #expect(TemporaryName.matches(Array(name.utf8)))
    #expect(name.utf8.count <= 255)
  }

  @Test(arguments: [
    "", ".", "doc", "doc.ferry-part-1", ".doc.ferry-part-", ".doc.ferry-part-A", ".doc.ferry-part-1.txt",
    ".doc.ferry-part-3w5e11264sgsf0", ".doc.ferry-part-é", ".doc-ferry-part-1", "ferry-part-1",
    ".ferry-config",
  ])
  func anotherNameIsNot(_ name: String) {
    #expect(!TemporaryName.matches(Array(name.utf8)))
  }
}
