import FerryPlan
import Synchronization
import Testing

@testable import FerryEngine

@Suite("The order in which uploads are listed")
struct ListingOrderTests {
  /// Returns the names of the uploads, in the order in which their listing began.
  private func order(_ after: String) throws -> [String] {
    let run = try TestRun(
      """
      uploads:
        first: { session: s, files: { root: files }, transfer: { request: { url: "https://a.example/${file.path}" } } }
        second:
          session: s
          needs: [first]
          files: { root: files }
          transfer: { request: { url: "https://b.example/${file.path}" } }
          after: \(after)

      """, files: ["a"])
    let begun = Mutex<[String]>([])
    var listers = run.listers
    for (index, node) in run.job.plan.nodes.enumerated() {
      // Each listing asks whether the run was stopped.
      listers[index]?.isStopped = {
        begun.withLock { if !$0.contains(node.name) { $0.append(node.name) } }
        return false
      }
    }
    _ = try LaunchState(
      run.job, journals: run.journals, round: 1, selection: Selection([], in: run.job.plan), listers: listers,
      at: TestRun.start)
    return begun.withLock(\.self)
  }

  /// A file that arrives between the listings belongs only to the upload that was listed later. If that upload removed the
  /// file, the other one would never send it.
  @Test func anUploadThatRemovesItsFilesIsListedBeforeTheUploadsThatItNeeds() throws {
    #expect(try order("delete") == ["second", "first"])
    #expect(try order("keep") == ["first", "second"])
  }
}
