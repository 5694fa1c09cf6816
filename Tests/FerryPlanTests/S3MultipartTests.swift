import FerryManifest
import FerryPlan
import FerrySimulation
import Testing

/// Multipart uploads of S3.
@Suite struct `An S3 upload` {
  private static let machine = S3Multipart(partSize: 100, threshold: 200)

  private func state(_ parts: [Int] = [], isUncertain: Bool = false) -> TransferState {
    var state = TransferState(isUncertain: true)
    let list = parts.map { PartList.Part(number: $0, size: $0 == 3 ? 50 : 100, etag: "\"e\"") }
    _ = Self.machine.apply(
      .parts(PartList(parts: list, next: nil)), of: .listParts(after: 0), to: &state, size: 250)
    state.isUncertain = isUncertain
    return state
  }

  @Test func `is a single request below the threshold`() {
    for size in [0, 1, 199] as [Int64] { #expect(Self.machine.next(state(), size: size) == .whole) }
    #expect(Self.machine.next(state(), size: 200) == .send(0..<100))
    // A multipart upload cannot be empty.
    #expect(S3Multipart(partSize: 100, threshold: 0).next(state(), size: 0) == .whole)
  }

  @Test func `sends the parts that the server does not have`() {
    #expect(Self.machine.next(state([1, 3]), size: 250) == .send(100..<200))
    #expect(Self.machine.next(state([1, 2]), size: 250) == .send(200..<250))
    #expect(Self.machine.next(state([1], isUncertain: true), size: 250) == .listParts(after: 0))
  }

  @Test func `has at most 10000 parts, whatever the size of the file`() {
    let machine = S3Multipart()
    for size in [16 << 20, 80_000 << 20, (80_000 << 20) + 1, 5 << 40, Int64.max] as [Int64] {
      #expect(machine.partCount(size) <= 10_000)
      #expect(machine.partCount(size) >= 1)
    }
    #expect(machine.next(TransferState(isUncertain: false), size: 5 << 40) == .send(0..<(525 << 20)))
  }

  @Test func `is complete when the server has every part`() {
    var transfer = state([1, 3])
    #expect(
      Self.machine.apply(.part(etag: "\"a\"", nil), of: .send(100..<200), to: &transfer, size: 250)
        == .complete)
    #expect(transfer.confirmedOffset == 250)
    transfer = state([1])
    #expect(
      Self.machine.apply(.part(etag: "\"a\"", nil), of: .send(100..<200), to: &transfer, size: 250)
        == .proceeds)
    #expect(transfer.confirmedOffset == 200)
  }

  /// Parts that were sent with another `part_size`, or whose number is too high, are not parts of the file.
  @Test func `ignores parts that are not those of the file`() {
    var transfer = TransferState(isUncertain: true)
    let parts = [(1, 99), (2, 100), (3, 100), (4, 50), (9_999, 100)].map {
      PartList.Part(number: $0.0, size: $0.1, etag: "\"e\"")
    }
    #expect(
      Self.machine.apply(
        .parts(PartList(parts: parts, next: nil)), of: .listParts(after: 0), to: &transfer, size: 250)
        == .proceeds)
    #expect(transfer.confirmedOffset == 100)
    #expect(Self.machine.next(transfer, size: 250) == .send(0..<100))
  }

  @Test func `reads every page of the list of parts, and rejects a list that does not end`() {
    var transfer = TransferState(isUncertain: true)
    let page = { (number: Int, next: Int?) in
      TransferReading.parts(
        PartList(parts: [.init(number: number, size: 100, etag: "\"e\"")], next: next))
    }
    #expect(Self.machine.apply(page(1, 1), of: .listParts(after: 0), to: &transfer, size: 250) == .proceeds)
    #expect(Self.machine.next(transfer, size: 250) == .listParts(after: 1))
    var endless = transfer
    guard
      case .contradicts = Self.machine.apply(page(2, 1), of: .listParts(after: 1), to: &endless, size: 250)
    else {
      Issue.record("the same page again")
      return
    }
    #expect(Self.machine.apply(page(2, nil), of: .listParts(after: 1), to: &transfer, size: 250) == .proceeds)
    #expect(Self.machine.next(transfer, size: 250) == .send(200..<250))
  }

  @Test func `reads no page of the list of parts after the file's last part`() {
    var transfer = TransferState(isUncertain: true)
    let page = TransferReading.parts(
      PartList(parts: [.init(number: 1, size: 100, etag: "\"e\"")], next: 3))
    #expect(Self.machine.apply(page, of: .listParts(after: 0), to: &transfer, size: 250) == .proceeds)
    #expect(Self.machine.next(transfer, size: 250) == .send(100..<200))
  }

  @Test func `states parts by their numbers, without the fields of the object`() {
    let part = Self.machine.request(for: .send(100..<200), size: 250)
    #expect(part.query.map { "\($0.name)=\($0.value)" } == ["partNumber=2"])
    #expect(part.usesUploadID && part.leavesOutObjectFields && part.method == nil)
    let list = Self.machine.request(for: .listParts(after: 2), size: 250)
    #expect(list.method == "GET" && list.query.map(\.value) == ["2"])
    let whole = Self.machine.request(for: .whole, size: 1)
    #expect(!whole.usesUploadID && !whole.leavesOutObjectFields && whole.query.isEmpty)
  }

  @Test(arguments: [
    ("Content-Type", true), ("x-amz-meta-a", true), ("X-Amz-Acl", true), ("If-None-Match", true),
    ("Cache-Control", true), ("x-amz-server-side-encryption", true),
    ("x-amz-server-side-encryption-customer-key", false), ("Authorization", false), ("X-Own", false),
  ])
  func `knows the fields of an object`(_ name: String, _ describes: Bool) {
    #expect(S3Multipart.describesObject(name) == describes)
  }

  @Test func `retries what S3 refuses with a 4xx although the request is right`() {
    for (code, reading) in [
      ("RequestTimeout", .refused), ("BadDigest", .refused), ("AccessDenied", .other),
      ("NoSuchUpload", .other),
    ] as [(String, TransferReading)] {
      var response = StatedResponse(status: 400)
      response.s3ErrorCode = code
      #expect(Self.machine.read(response, to: .send(0..<100), size: 250) == reading)
    }
  }

  @Test(arguments: ["", "\"a b\"", "\"\u{E9}\"", String(repeating: "a", count: 257)])
  func `rejects an ETag that it could not send back`(_ etag: String) {
    let response = StatedResponse(status: 200, fields: ["etag": [etag]])
    guard case .malformed = Self.machine.read(response, to: .send(0..<100), size: 250) else {
      Issue.record("\(etag)")
      return
    }
  }

  // MARK: In a launch

  private static let yaml =
    Yaml.head + """
      uploads:
        up:
          session: s
          files: { root: . }
          retry: { limit: 2, initial: 1s }
          transfer:
            protocol: s3_multipart
            part_size: 100B
            threshold: 200B
            request:
              url: "http://host/bucket/${file.path}?x=1"
              headers: { Content-Type: image/png, If-None-Match: "*", X-Own: a }
      """

  @Test func `is created, completed, checked and aborted by steps that the protocol adds`() throws {
    let world = try World(Self.yaml, files: ["up": ["f": 250]]) { _ in .status(200) }
    let steps = world.scheduler.plan.nodes.last?.steps ?? []
    #expect(steps.map(\.kind) == [.allocate, .transfer, .commit, .probe, .abandon])
    #expect(steps.map(\.request.method) == ["POST", "PUT", "POST", "HEAD", "DELETE"])
    let url = "http://host/bucket/${file.path}?x=1"
    let id = "&uploadId=${allocate.upload_id}"
    #expect(steps.map(\.request.url.description) == [url + "&uploads", url, url + id, url, url + id])
    let names = steps.map { $0.request.headers.map(\.name).sorted() }
    #expect(
      names == [
        ["Content-Type", "X-Own"], ["Content-Type", "If-None-Match", "X-Own"],
        ["If-None-Match", "X-Own"], ["X-Own"], ["X-Own"],
      ])
  }

  @Test func `has an upload ID only from the threshold`() throws {
    var world = try World(Self.yaml, files: ["up": ["large": 250, "small": 199]]) { _ in .status(200) }
    world.serve = { call in
      switch (call.step, call.attempt.operation) {
      case (.allocate, _):
        var reply = Reply.status(200)
        reply.uploadID = 1
        return reply
      case (.transfer, .send): return .status(200, transfer: .part(etag: "\"e\"", nil))
      default: return .status(200)
      }
    }
    world.run()
    #expect(world.scheduler.totals.items.done == 2)
    let steps = world.starts.map { "\($0.path) \($0.attempt.step) \($0.attempt.operation)" }
    #expect(
      steps.sorted() == [
        "large allocate whole", "large commit whole", "large transfer send(Range(0..<100))",
        "large transfer send(Range(100..<200))", "large transfer send(Range(200..<250))",
        "small transfer whole",
      ])
  }
}
