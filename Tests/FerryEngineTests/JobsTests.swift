import FerryManifest
import FerryPlan
import Foundation
import Testing

@testable import FerryEngine

/// Which manifests can share a launch.
struct JobsTests {
  private let folder: TestFolder

  init() throws { folder = try TestFolder() }

  private func job(
    _ name: String, in place: String = "", session: String = "", files: String = "root: .", top: String = ""
  ) throws -> Job {
    let manifest = """
      version: 1
      name: \(name)
      sessions: { s: { kind: background, identifier: shared\(session) } }
      uploads:
        up: { session: s, files: { \(files) }, transfer: { request: { url: "http://h/${file.path}" } } }
      \(top)
      """
    let path = folder.path + "/\(place)"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    try Data(manifest.utf8).write(to: URL(fileURLWithPath: "\(path)/\(name).yaml"))
    let reading = try Job.read(path: "\(path)/\(name).yaml", variables: [:], environment: [:])
    return try #require(reading.job, "\(reading.diagnostics)")
  }

  @Test func jobsWithoutConflictsAreOneGroup() throws {
    let window = "execution_window: { background: 1m }"
    let jobs = [
      try job("a"), try job("b", top: window), try job("c"), try job("d", session: ", discretionary: true"),
      try job("e", top: window),
    ]
    #expect(Jobs.groups(jobs).map(\.plan.manifests) == [["a", "c"], ["b", "e"], ["d"]])
    #expect(Jobs.groups([]).isEmpty)
  }

  @Test func aJobAloneIsItsOwnPlan() throws {
    let job = try job("a")
    #expect(Jobs(job).plan == job.plan)
    #expect(try Jobs([job]).plan == job.plan)
  }

  @Test func jobsThatABusySessionHoldsAreOmitted() throws {
    let jobs = try Jobs([job("a"), job("b", session: "2"), job("c")])
    #expect(try jobs.without(session: "shared")?.plan.manifests == ["b"])
    #expect(try jobs.without(session: "shared2")?.plan.manifests == ["a", "c"])
    #expect(try Jobs(job("a")).without(session: "shared") == nil)
  }

  @Test func aCommandOfASharedSessionHasOneFolder() throws {
    let session = ", on_events: [./done]"
    #expect(throws: Never.self) { try Jobs([job("a", session: session), job("b", session: session)]) }
    let error = #expect(throws: EngineFault.self) {
      try Jobs([job("a", session: session), job("b", in: "other", session: session)])
    }
    #expect(error?.exitCode == .invalidManifest)
    #expect(error?.description.contains("other/b.yaml:3:") == true, "\(error?.description ?? "")")
  }

  @Test func theStandardInputIsReadOnce() throws {
    let list = "root: ., list: \"-\""
    #expect(throws: UsageError.self) { try Jobs([job("a", files: list), job("b", files: list)]) }
  }

  @Test func aNameOfOneNodeNeedsNoManifest() throws {
    let more = "requests: { ask: { session: s, request: { url: http://h/ } } }"
    let jobs = try Jobs([job("a"), job("b", top: more)])
    #expect(try chosen(["ask"], of: jobs) == ["b/ask"])
    #expect(try chosen(["a/up"], of: jobs) == ["a/up"])
    #expect(try chosen([], of: jobs) == ["a/up", "b/up", "b/ask"])
    for name in ["up", "c/up", "a/ask", "a/", "/up", ""] {
      #expect(throws: UsageError.self, "\(name)") { try chosen([name], of: jobs) }
    }
    #expect(try Selection.split(["ask"], among: jobs).map(\.job.plan.manifest) == ["b"])
  }

  private func chosen(_ names: [String], of jobs: Jobs) throws -> [String] {
    let selection = try Selection(names, in: jobs.plan)
    return jobs.plan.nodes.indices.map { NodeID($0) }.filter(selection.contains).map(jobs.plan.title)
  }
}
