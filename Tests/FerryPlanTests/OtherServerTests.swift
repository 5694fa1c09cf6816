import FerryManifest
import FerryPlan
import FerrySimulation
import Testing

/// Steps that are not sent because captures now name another server than the one that has the upload ID or the file.
struct OtherServerTests {
  private static let elsewhere = Reply.fails(.otherServer, reached: false)

  private func steps(_ world: World) -> [Step.Kind] { world.starts.map(\.attempt.step) }

  private func orphanings(_ world: World) -> [Orphaning] {
    world.entries.compactMap {
      if case .uploadIDOrphaned(_, _, let orphaning, _) = $0 { orphaning } else { nil }
    }
  }

  private static func ids(_ call: Call) -> Reply {
    var reply = Reply.status(200)
    reply.uploadID = call.step == .allocate ? call.number : nil
    return reply
  }

  @Test(arguments: [Step.Kind.transfer, .commit])
  func anItemStartsOverWithANewID(at step: Step.Kind) throws {
    var world = try World(Yaml.ids(), files: Yaml.files(1)) { call in
      call.step == step && call.number == 1 ? Self.elsewhere : Self.ids(call)
    }
    world.run()
    let before: [Step.Kind] = step == .transfer ? [.allocate, .transfer] : [.allocate, .transfer, .commit]
    #expect(steps(world) == before + [.allocate, .transfer, .commit])
    #expect(orphanings(world) == [Orphaning(.otherServer, isInDoubt: false)])
    #expect(world.scheduler.totals.items.done == 1)
  }

  /// The first server may have executed the commit. No other server can report whether it was executed.
  @Test(arguments: LostCommitTests.keys + ["probe: { request: { url: \"http://host/${allocate.id}\" } }"])
  func aCommitInDoubtIsAmbiguous(key: String) throws {
    var world = try World(Yaml.ids(alreadyDone: key), files: Yaml.files(1)) { call in
      switch call.step {
      case .commit: call.number == 1 ? .lost : Self.elsewhere
      case .probe: Self.elsewhere
      default: Self.ids(call)
      }
    }
    world.run()
    #expect(steps(world).count { $0 == .allocate } == 1)
    #expect(world.scheduler.totals.items.ambiguous == 1)
    let note = try #require(world.scheduler.metrics.notes.last)
    #expect(note.failure?.message == "commit may have been executed: made up")
    #expect(orphanings(world).isEmpty)
  }

  @Test func aReleaseIsNotSentAndTheIDStaysListed() throws {
    let abandon = """
          abandon: { request: { url: "http://host/ids/${allocate.id}" } }

      """
    var world = try World(Yaml.ids(abandon), files: Yaml.files(1)) { call in
      switch call.step {
      case .transfer: .status(403)
      case .abandon: Self.elsewhere
      default: Self.ids(call)
      }
    }
    world.run()
    #expect(steps(world) == [.allocate, .transfer, .abandon])
    let record = try #require(world.scheduler.nodeRecords[0].orphans)
    #expect((record.dropped, record.released, record.failed) == (1, 0, 1))
    #expect(record.reason?.code == FailureCode(TransportFailure.Code.otherServer))
    #expect(world.machine.journal.orphans.values.flatMap(\.self).count == 1)
  }

  @Test func withoutAnIDTheFileIsSentAgain() throws {
    let yaml =
      Yaml.head + """
        uploads:
          up:
            session: s
            files: { root: . }
            transfer: { request: { url: "http://host/${file.name}" } }
            commit: { request: { method: POST, url: "http://host/${file.name}/commit" } }

        """
    var world = try World(yaml, files: Yaml.files(1)) { call in
      call.step == .commit && call.number == 1 ? Self.elsewhere : .status(200)
    }
    world.run()
    #expect(steps(world) == [.transfer, .commit, .transfer, .commit])
    #expect(world.scheduler.totals.items.done == 1)
  }
}
