import FerryManifest
import Testing

@testable import FerryPlan

/// The recorded details of failed requests.
struct FailureDetailTests {
  private func detail(_ number: Int, body: String) -> FailureDetail {
    FailureDetail(url: "http://host/\(number)", reasonPhrase: "Bad Request", body: body)
  }

  @Test func aMillionEqualBodiesAreStoredOnce() throws {
    var details = FailureDetails()
    var last: FailureDetail?
    for number in 0..<1_000_000 { last = details.kept(detail(number, body: "field \"title\" missing")) }
    // There is no room for the URLs of a million failures.
    let kept = try #require(last)
    #expect(kept == FailureDetail(reasonPhrase: "Bad Request", body: "field \"title\" missing"))
    #expect(details.kept(detail(0, body: "field \"title\" missing")) === kept)
  }

  @Test func differentBodiesAreStoredUpToALimit() {
    var details = FailureDetails()
    var bytes = 0
    for number in 0..<200_000 {
      let kept = details.kept(detail(number, body: "\(number)" + String(repeating: "x", count: 300)))
      bytes += (kept?.url?.utf8.count ?? 0) + (kept?.body?.utf8.count ?? 0)
    }
    #expect((FailureDetails.limit / 4...FailureDetails.limit).contains(bytes), "\(bytes)")
  }

  @Test func whatWasNotSentHasNoDetailOfAnotherRequest() throws {
    var files = FileColumns()
    for path in ["a", "b"] { files.append(path: path.utf8, size: 9, modified: 0) }
    var listed = Reconciliation(listing: files, deliver: .whenChanged, round: 1, nextRow: 1)
    listed.finish()
    let head = Yaml.head.replacing("max_connections_per_host: 2", with: "max_connections_per_host: 1")
    var scheduler = Scheduler(
      plan: try Plan(yaml: Yaml.put("    retry: { limit: 0 }\n", head: head)),
      starts: [.upload(listed.items, listed.settled)], options: LaunchOptions(seed: 1))
    let now = Instant(nanoseconds: 0)
    _ = scheduler.handle(.launched, at: now)
    let failure = TransportFailure(.connect, "connect to host:80: refused", mayHaveReachedServer: false)
    let detail = FailureDetail(url: "http://host/a")
    _ = scheduler.handle(.finished([.init(id: 1, answer: .failure(failure), detail: detail)]), at: now)
    #expect(scheduler.itemRecords.map(\.reason?.detail) == [detail])
    // The second file was not sent, and waits for the same host.
    let node = try #require(scheduler.nodeRecords.first)
    #expect(node.items?.waiting == 2 && node.reason?.code == "connect" && node.reason?.detail == nil)
  }

  @Test func anItemThatFailedHasTheDetailOfItsLastAttempt() throws {
    var files = FileColumns()
    files.append(path: "a".utf8, size: 9, modified: 0)
    var listed = Reconciliation(listing: files, deliver: .whenChanged, round: 1, nextRow: 1)
    listed.finish()
    var scheduler = Scheduler(
      plan: try Plan(yaml: Yaml.put()), starts: [.upload(listed.items, listed.settled)],
      options: LaunchOptions(seed: 1))
    let now = Instant(nanoseconds: 0)
    _ = scheduler.handle(.launched, at: now)
    let detail = detail(1, body: "no")
    _ = scheduler.handle(
      .finished([.init(id: 1, answer: .response(.init(status: 400)), detail: detail)]), at: now)
    #expect(scheduler.itemRecords.map(\.reason?.detail) == [detail])
    #expect(scheduler.itemRecords.flatMap(\.attempts).map(\.detail) == [detail])
  }
}
