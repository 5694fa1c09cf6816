import FerryManifest
import FerryPlan
import Testing

struct RecommitTests {
  private func recommits(_ commit: String, allocate: Bool = false, captures: Bool = false) throws -> Bool {
    let id = "allocate: { request: { url: http://h/ids }, capture: { id: { json: /id } } }"
    let reference = allocate ? "${allocate.id}" : "${file.path}"
    let capture = captures ? ", capture: { at: { header: Location } }" : ""
    let plan = try Plan(
      yaml:
        """
        version: 1
        name: m
        sessions: { s: {} }
        uploads:
          u:
            session: s
            files: { root: . }
            \(allocate ? id : "")
            transfer: { request: { url: "http://h/\(reference)" }\(capture) }
            \(commit)
        """)
    guard case .upload(let work) = plan.nodes[0].work else { return false }
    return work.recommits
  }

  private static let url = "request: { url: \"http://h/commit/${file.path}\" }"

  @Test(arguments: [false, true])
  func aCommitThatLeavesAnIntentWasNotSentWithoutOne(hasUploadID: Bool) throws {
    #expect(try recommits("commit: { \(Self.url) }", allocate: hasUploadID))
  }

  @Test(arguments: ["already_done: { status: [409] }", "idempotency_key: { header: Idempotency-Key }"])
  func aCommitThatIsKnownAgainWithoutAnUploadIDMayBeSentAgain(recognized: String) throws {
    let commit = "commit: { \(Self.url), \(recognized) }"
    #expect(try recommits(commit))
    #expect(try !recommits(commit, allocate: true))
    #expect(try !recommits(commit, captures: true))
  }

  @Test func aCommitWithAProbeIsAskedForUnderWhatWasSent() throws {
    let commit = "commit: { \(Self.url), probe: { request: { url: http://h/state } } }"
    #expect(try !recommits(commit) && !recommits(commit, allocate: true))
  }

  @Test func withoutACommitNothingIsKnown() throws { #expect(try !recommits("")) }
}
