import FerryManifest
import FerryPlan
import Testing

/// The division of items into shards. The expected numbers were computed by another program.
@Suite struct `A shard` {
  @Test(arguments: [
    ("photos", "a.jpg", UInt64(0xd9c9_0496_13ee_712a), 86, 6),
    ("photos", "b.jpg", 0x3f3c_0508_2842_2f97, 25, 2),
    ("videos", "a.jpg", 0x5995_46ea_b2ec_3fde, 35, 3),
    ("photos", "2026/ä.jpg", 0xe642_ad22_8233_1b97, 90, 7),
  ])
  func `of an item is the same in every version`(
    _ upload: String, _ path: String, _ hash: UInt64, _ ofHundred: Int, _ ofSeven: Int
  ) {
    let items = ItemHash(upload: upload)
    #expect(items.value(of: path.utf8) == hash)
    #expect(items.number(of: path.utf8, among: 100) == ofHundred)
    #expect(items.number(of: path.utf8, among: 7) == ofSeven)
  }

  @Test func `exists from 1 to the number of shards`() {
    #expect(Shard(0, of: 3) == nil && Shard(4, of: 3) == nil && Shard(1, of: 0) == nil)
    #expect(Shard(3, of: 3) != nil && Shard(1, of: Shard.most + 1) == nil)
  }

  @Test func `contains each item that no other shard contains, and about as many as the others`() throws {
    let shards = (1...50).compactMap { Shard($0, of: 50) }
    var counts = [Int](repeating: 0, count: 50)
    for number in 0..<20_000 {
      let path = "2026/photo-\(number).jpg".utf8
      let owners = shards.indices.filter {
        ItemHash(upload: "photos").number(of: path, among: shards.count) == shards[$0].number
      }
      counts[try #require(owners.first)] += 1
      #expect(owners.count == 1)
    }
    // The standard deviation of a random division is 20.
    #expect(counts.allSatisfy { (300...500).contains($0) }, "\(counts)")
  }

  @Test func `keeps its items when others are added, in divisions of any size`() {
    // 200,000 items in 1,000 shards, then one percent more. The standard deviation of a random division is 14.
    let items = ItemHash(upload: "photos")
    func division(_ range: Range<Int>) -> [Int] {
      range.map { items.number(of: "\($0 % 365)/photo-\($0).jpg".utf8, among: 1_000) }
    }
    let before = division(0..<200_000)
    let after = division(0..<202_000)
    #expect(after.starts(with: before))
    var counts = [Int](repeating: 0, count: 1_001)
    for number in after { counts[number] += 1 }
    #expect(counts[0] == 0 && counts[1...].allSatisfy { (130...280).contains($0) })
  }

  @Test func `gets a part of each budget, and the parts add up to the limit`() {
    var budgets = Budgets()
    budgets.wifi = Budget(limit: 1_000_003, per: .day)
    budgets.any = Budget(limit: .max, per: .month)
    for scope in [Budget.Scope.wifi, .any] {
      let parts = (0..<7).compactMap { budgets.part($0, of: 7)[scope]?.limit }
      #expect(parts.count == 7 && parts.reduce(0, +) == budgets[scope]?.limit)
      #expect((parts.max() ?? 0) - (parts.min() ?? 0) <= 1)
    }
    #expect(budgets.part(0, of: 7).cellular == nil)
  }
}

/// A plan whose uploads are divided into shards.
@Suite struct `A divided plan` {
  private func plan(_ needs: String = "", _ more: String = "") throws -> Plan {
    try Plan(
      yaml: """
        version: 1
        name: test
        sessions: { s: { kind: background } }
        uploads:
          up:
            session: s
            needs: [\(needs)]
            files: { root: . }
            transfer: { request: { url: "http://host/${requests.open.id}/${file.path}" } }
        requests:
          open: { session: s, capture: { id: { json: /id } }, request: { url: "http://host/open" } }
          alone: { session: s, request: { url: "http://host/alone" } }
          close: { session: s, needs: [up], request: { url: "http://host/close" } }
          last: { session: s, needs: [close], request: { url: "http://host/last" } }
        \(more)
        """)
  }

  private func names(_ plan: Plan, _ indices: Set<Int>) -> Set<String> {
    Set(indices.map { plan.nodes[$0].name })
  }

  @Test func `runs what needs an upload after the shards, and everything else before them`() throws {
    let plan = try plan()
    #expect(names(plan, try plan.nodesAfterUploads()) == ["close", "last"])
    #expect(names(plan, plan.nodesBeforeUploads) == ["open"])
  }

  @Test func `has, in a shard, only the uploads and what they need`() throws {
    let shard = try plan().ofShard
    #expect(Set(shard.nodes.map(\.name)) == ["up", "open"])
    let upload = try #require(shard.nodes.last)
    #expect(upload.name == "up" && upload.needs.map { shard.nodes[$0.index].name } == ["open"])
  }

  @Test func `cannot have an upload that waits for another one`() throws {
    let other = """
      fetches:
        list: { session: s, needs: [up], request: { url: "http://host/list" }, save_to: list.txt }
      """
    let chained = try Plan(
      yaml: """
        version: 1
        name: test
        sessions: { s: { kind: background } }
        uploads:
          up: { session: s, files: { root: . }, transfer: { request: { url: "http://host/${file.path}" } } }
          second:
            session: s
            needs: [list]
            files: { root: . }
            transfer: { request: { url: "http://host/${file.path}" } }
        \(other)
        """)
    #expect(throws: Plan.UploadChain(upload: "second", need: "list", first: "up")) {
      _ = try chained.nodesAfterUploads()
    }
  }
}
