import FerryManifest
import FerryPlan
import Foundation
import Synchronization
import Testing

@testable import FerryEngine

/// Listings of more files than fit in one portion.
@Suite struct `A partial listing` {
  private let folder: TestFolder

  init() throws { folder = try TestFolder() }

  private func make(_ count: Int) throws {
    for number in 0..<count {
      folder.file("root/\(number % 3)/\(number % 2 == 0 ? "even" : "odd")/\(number)")
    }
    folder.file("root/1.txt")
  }

  private func lister(isStopped: @escaping @Sendable () -> Bool = { false }) throws -> FileLister {
    var lister = try FileLister(
      FileSelection(root: "root", source: .globs(include: ["**"], exclude: [])), baseFolder: folder.path,
      home: folder.path)
    lister.isStopped = isStopped
    return lister
  }

  @Test func `has the same files in the same order as a listing of all`() throws {
    try make(5_000)
    let lister = try lister()
    let whole = try lister.list { [] }
    #expect(whole.files.count == 5_001)
    let (first, rest) = try lister.firstFiles(["**", "*.png"], [])
    var files = first.files
    #expect(files.count == PartialListing.portion + 1 && first.unmatched.isEmpty)
    let listing = try #require(rest)
    if listing.take() != nil { Issue.record("nothing has been read yet") }
    var portions = 0
    read: while true {
      listing.read()
      portions += 1
      switch try #require(listing.take()) {
      case .files(let more):
        #expect(more.count == PartialListing.portion)
        files.append(0..<more.count, of: more)
      case .last(let last):
        files.append(0..<last.files.count, of: last.files)
        #expect(last.unmatched == [1])
        break read
      }
    }
    #expect(files == whole.files && portions == 2)
  }

  @Test func `is not needed for few files`() throws {
    try make(PartialListing.portion - 1)
    let (listing, rest) = try lister().firstFiles(["**", "*.png"], [])
    #expect(listing.files.count == PartialListing.portion && rest === nil && listing.unmatched == [1])
  }

  @Test func `contains nothing if the run is stopped`() throws {
    try make(10)
    let (listing, rest) = try lister { true }.firstFiles(["**"], [])
    #expect(listing.files.count == 0 && rest === nil)
  }

  /// Returns `true` in one of its calls.
  private final class Stop: Sendable {
    let calls = Mutex((count: 0, stopsAt: Int.max))

    var isSet: Bool {
      calls.withLock { calls in
        calls.count += 1
        return calls.count == calls.stopsAt
      }
    }
  }

  /// The run takes the signal from its messages, so that `isStopped` returns `true` only for a short time.
  @Test(arguments: 1...3)
  func `that is stopped while it reads a folder does not end without the other files`(call: Int) throws {
    for number in 0..<2_500 { folder.file("root/a/\(number)") }
    for number in 0..<1_500 { folder.file("root/b/\(number)") }
    let stop = Stop()
    let (_, rest) = try lister { stop.isSet }.firstFiles(["**"], [])
    let listing = try #require(rest)
    stop.calls.withLock { $0 = (0, call) }
    listing.read()
    guard case .files(let files) = try #require(listing.take()) else {
      Issue.record("files of the folder are missing")
      return
    }
    #expect(files.count < 451 + 1_500)
  }

  @Test func `reports a missing root at once`() throws {
    #expect(throws: ListingFailure.self) { try lister().firstFiles(["**"], []) }
  }
}
