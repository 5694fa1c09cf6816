import FerryDigest
import FerryPlan
import FerryTransfer
import Foundation
import Testing

@testable import FerryEngine

struct ContentReaderTests {
  private let folder: TestFolder

  init() throws { folder = try TestFolder() }

  private func path(_ name: String) -> String { "\(folder.path)/\(name)" }

  private func write(_ bytes: [UInt8], to name: String) throws {
    try Data(bytes).write(to: URL(fileURLWithPath: path(name)))
  }

  /// The comparison results for files that were delivered with these contents, whatever the files contain now.
  private func answers(
    _ files: [(name: String, delivered: [UInt8])], reader: ContentReader = ContentReader(),
    meanwhile change: () throws -> Void = {}
  ) throws -> [ContentComparison] {
    var listing = FileColumns()
    for file in files {
      var status = stat()
      #expect(stat(path(file.name), &status) == 0)
      listing.append(path: file.name.utf8, size: Int64(status.st_size), modified: status.modifiedNanoseconds)
    }
    var questions = ContentQuestions(listing: listing)
    for (index, file) in files.enumerated() {
      let known = Reconciliation.Known(
        row: Int64(index + 1), round: 1, state: .done, size: listing.sizes[index], modified: 0)
      let delivered = ContentDigest(SHA256.hash(file.delivered))
      Array(file.name.utf8).withUnsafeBytes { questions.meet(known, delivered: delivered, path: $0) }
    }
    try change()
    reader.answer(&questions, of: listing, root: try SourceRoot(Array(folder.path.utf8)))
    return questions.answers
  }

  @Test func aFileOfManyPiecesIsReadToItsEnd() throws {
    var bytes = [UInt8](repeating: 7, count: (4 << 20) + 13)
    try write(bytes, to: "same")
    try write(bytes, to: "other")
    bytes[bytes.count - 1] = 8
    #expect(try answers([("other", bytes)]) == [.other])
    bytes[bytes.count - 1] = 7
    #expect(try answers([("same", bytes)]) == [.same])
  }

  @Test func anEmptyFileIsUnchanged() throws {
    try write([], to: "empty")
    #expect(try answers([("empty", [])]) == [.same])
  }

  @Test func theResultsOfManyFilesKeepTheirOrder() throws {
    let files = (0..<9000).map { index in
      (name: String(format: "%05d", index), delivered: Array("file \(index)".utf8))
    }
    for file in files {
      let isOther = file.name.hasSuffix("77")
      try write(isOther ? file.delivered.map { $0 ^ 1 } : file.delivered, to: file.name)
    }
    let answers = try answers(files)
    for (file, answer) in zip(files, answers) {
      #expect(answer == (file.name.hasSuffix("77") ? .other : .same), "\(file.name)")
    }
  }

  @Test func aFileThatCannotBeReadAsListedIsReportedByTheAttemptToSendIt() throws {
    let bytes = Array("content".utf8)
    for name in ["fifo", "folder", "gone", "grown", "link"] { try write(bytes, to: name) }
    let answers = try answers(["fifo", "folder", "gone", "grown", "link"].map { ($0, bytes) }) {
      for name in ["fifo", "folder", "gone", "link"] { #expect(unlink(path(name)) == 0) }
      #expect(mkfifo(path("fifo"), 0o600) == 0)
      #expect(mkdir(path("folder"), 0o700) == 0)
      #expect(symlink("nowhere", path("link")) == 0)
      try write(bytes + bytes, to: "grown")
    }
    #expect(answers == Array(repeating: .other, count: 5))
  }

  @Test func noFurtherFilesAreReadAfterAStop() throws {
    let bytes = [UInt8](repeating: 7, count: 1 << 20)
    try write(bytes, to: "a")
    var reader = ContentReader()
    reader.isStopped = { true }
    #expect(try answers([("a", bytes)], reader: reader) == [.other])
  }
}
