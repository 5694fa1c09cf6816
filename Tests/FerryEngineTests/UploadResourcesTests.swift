import FerryPlan
import Testing

@testable import FerryEngine

/// The URLs to which files are sent in several requests.
@Suite struct `An upload resource` {
  private let first = ItemRef(NodeID(0), 0)
  private let second = ItemRef(NodeID(1), 0)

  @Test func `is that of one file`() {
    var resources = UploadResources()
    let held = [
      resources.hold("http://h/u1", for: first), resources.hold("http://h/u1", for: first),
      resources.hold("http://h/u1", for: second), resources.hold("http://h/u2", for: second),
    ]
    #expect(held == [true, true, false, true])
  }

  /// The server decides how it writes a URL.
  @Test(arguments: [
    "http://h/p/1#x", "http://h/p/%31", "HTTP://H/p/1", "http://h:080/p/1", "http://h/p/1?",
    "http://u@h/p/x/../1",
  ])
  func `is the same in another spelling`(_ url: String) {
    var resources = UploadResources()
    let held = [resources.hold("http://h/p/1", for: first), resources.hold(url, for: second)]
    #expect(held == [true, false])
  }

  @Test(arguments: [
    "http://h/p/2", "http://h/P/1", "http://h/p/1?x", "https://h/p/1", "http://h/p%2F1", "http://h/p/1/",
  ])
  func `is another one in another place`(_ url: String) {
    var resources = UploadResources()
    let held = [resources.hold("http://h/p/1", for: first), resources.hold(url, for: second)]
    #expect(held == [true, true])
  }

  @Test func `is that of one part of a file`() {
    var resources = UploadResources()
    let held = [
      resources.hold("http://h/u1", for: first, number: 1),
      resources.hold("http://h/u2", for: first, number: 2),
      resources.hold("http://h/u1", for: first, number: 2), resources.hold("http://h/u2", for: second),
    ]
    #expect(held == [true, true, false, false])
  }

  @Test(arguments: [true, false]) func `is free again unless its file was delivered`(isUsed: Bool) {
    var resources = UploadResources()
    _ = resources.hold("http://h/u1", for: first)
    resources.drop(first, isUsed: isUsed)
    let isFree = resources.hold("http://h/u1", for: second)
    #expect(isFree == !isUsed)
  }

  @Test func `of a file that has started over is free again`() {
    var resources = UploadResources()
    _ = resources.hold("http://h/u1", for: first)
    _ = resources.hold("http://h/u2", for: first)
    let held = [resources.hold("http://h/u1", for: second), resources.hold("http://h/u2", for: second)]
    #expect(held == [true, false])
  }

  @Test func `is not the list of parts that is shown to people`() {
    func capture(_ name: String, _ value: String) -> CapturedValue {
      CapturedValue(name: name, value: value, isSecret: false)
    }
    #expect(capture("parts", "1 \"e\"\n2 \"f\" sha1 AAAA\n").isListOfParts)
    #expect(!capture("parts", "12").isListOfParts && !capture("parts", "a b\n").isListOfParts)
    #expect(!capture("id", "1 \"e\"\n").isListOfParts)
  }
}
