import FerryManifest
import FerryPlan
import FerrySimulation
import Testing

/// The result of a fetch for each status, with and without a validator.
struct FetchContentTests {
  private func yaml(_ more: String = "", method: String = "GET") -> String {
    Yaml.head + """
      fetches:
        f: { session: s, save_to: f, \(more)request: { url: "http://host/f", method: \(method) } }

      """
  }

  private func reply(_ status: Int, _ condition: AttemptResult.Condition) -> Reply {
    Reply(answer: .response(.init(status: status, condition: condition)), after: .milliseconds(10))
  }

  private struct Row: Sendable {
    var status: Int
    var unlisted: FetchContent
    var listed: FetchContent

    init(_ status: Int, _ unlisted: FetchContent, _ listed: FetchContent) {
      (self.status, self.unlisted, self.listed) = (status, unlisted, listed)
    }
  }

  private static let rows: [Row] = [
    Row(200, .document, .document), Row(201, .unexpected, .document), Row(202, .unexpected, .document),
    Row(203, .unexpected, .document), Row(204, .unexpected, .nothing), Row(205, .unexpected, .nothing),
    Row(206, .unexpected, .unexpected), Row(207, .unexpected, .document), Row(226, .unexpected, .unexpected),
    Row(299, .unexpected, .document), Row(304, .notModified, .notModified), Row(302, .unexpected, .nothing),
    Row(404, .unexpected, .nothing), Row(500, .unexpected, .nothing),
  ]

  @Test(arguments: rows) private func aStatusHasADocumentOrNone(_ row: Row) throws {
    let (status, unlisted, listed) = (row.status, row.unlisted, row.listed)
    let plain = try World(yaml()) { _ in .status(200) }
    #expect(plain.plan.nodes[0].steps[0].content(of: status) == unlisted)
    let naming = try World(yaml("expect: { status: [\(status)] }, ")) { _ in .status(200) }
    #expect(naming.plan.nodes[0].steps[0].content(of: status) == listed)
    #expect(status == 200 || naming.plan.nodes[0].steps[0].content(of: 200) == .unexpected)
  }

  @Test(arguments: [201, 203, 204, 205, 206, 226]) func aStatusWithoutADocumentFails(_ status: Int) throws {
    var world = try World(yaml()) { _ in .status(status) }
    world.run()
    #expect(world.scheduler.nodeRecords[0].result == .failed)
    #expect(world.scheduler.nodeRecords[0].reason?.code == "http_status")
    #expect(world.scheduler.nodeRecords[0].reason?.status == status)
    #expect(world.scheduler.exitCode == .itemsFailed)
    #expect(world.starts.count == 1)
  }

  @Test(arguments: [204, 205, 404]) func aListedStatusWithoutADocumentIsNoNewData(_ status: Int) throws {
    var world = try World(yaml("expect: { status: [200, \(status)] }, ")) { _ in .status(status) }
    world.run()
    #expect(world.scheduler.nodeRecords[0].result == .noData)
    #expect(world.scheduler.exitCode == .success)
  }

  @Test func aHeadRequestHasNoNewData() throws {
    var world = try World(yaml(method: "HEAD")) { _ in .status(200) }
    world.run()
    #expect(world.scheduler.nodeRecords[0].result == .noData)
  }

  @Test(arguments: [(AttemptResult.Condition.absent, FetchResult.failed), (.written, .noData)])
  func aNotModifiedCountsOnlyForAValidatorThatWasSent(
    _ condition: AttemptResult.Condition, _ result: FetchResult
  ) throws {
    var world = try World(yaml()) { _ in reply(304, condition) }
    world.run()
    #expect(world.scheduler.nodeRecords[0].result == result)
    #expect(world.starts.count == 1)
  }

  @Test(arguments: [304, 400, 412, 431]) func aRejectedValidatorCausesOneUnconditionalRequest(_ status: Int)
    throws
  {
    var world = try World(yaml("retry: { limit: 0 }, ")) { call in
      call.attempt.isUnconditional ? reply(200, .absent) : reply(status, .recorded(isNamed: false))
    }
    world.run()
    #expect(world.starts.map(\.attempt.isUnconditional) == [false, true])
    #expect(world.scheduler.nodeRecords[0].result == .newData)
    #expect(world.scheduler.exitCode == .success)
  }

  @Test(arguments: [304, 400, 412, 431]) func theUnconditionalRequestIsSentOnlyOnce(_ status: Int) throws {
    var world = try World(yaml()) { _ in reply(status, .recorded(isNamed: false)) }
    world.run()
    #expect(world.starts.map(\.attempt.isUnconditional) == [false, true])
    #expect(world.scheduler.nodeRecords[0].result == .failed)
    #expect(world.scheduler.nodeRecords[0].reason?.status == status)
  }

  @Test func aRefusalWithoutAValidatorIsFinal() throws {
    var world = try World(yaml()) { _ in reply(400, .absent) }
    world.run()
    #expect(world.starts.count == 1)
    #expect(world.scheduler.nodeRecords[0].reason?.status == 400)
  }
}
