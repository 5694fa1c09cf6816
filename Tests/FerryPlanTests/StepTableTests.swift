import FerryManifest
import Testing

@testable import FerryPlan

/// The steps of a plan by node and kind.
@Suite struct `The table of steps` {
  @Test func `every step of every node is found under its kind`() throws {
    let plan = try Plan(
      yaml: """
        version: 1
        name: test
        sessions: { s: {} }
        tokens: { t: { session: s, request: { url: "http://h/token" }, capture: { access_token: { json: /t } } } }
        fetches: { f: { session: s, request: { url: "http://h/f" }, save_to: f } }
        requests: { r: { session: s, request: { url: "http://h/r" } } }
        uploads:
          up:
            session: s
            files: { root: . }
            allocate: { request: { method: POST, url: "http://h/a" }, capture: { id: { json: /id } } }
            transfer: { request: { url: "http://h/${allocate.id}" } }
            commit: { request: { method: POST, url: "http://h/c/${allocate.id}" } }
            abandon: { request: { method: DELETE, url: "http://h/${allocate.id}" } }

        """)
    let table = StepTable(plan)
    for (index, node) in plan.nodes.enumerated() {
      for step in node.steps { #expect(table[NodeID(index), step.kind].step == step) }
    }
    // A kind that the upload does not have is represented by its transfer.
    let upload = try #require(plan.nodes.firstIndex { $0.kind == .upload })
    #expect(table[NodeID(upload), .probe].step.kind == .transfer)
  }

  @Test func `a host queue is kept for one step of one node`() throws {
    let plan = try Plan(
      yaml: """
        version: 1
        name: test
        sessions: { s: {} }
        uploads:
          a: { session: s, files: { root: . }, transfer: { request: { url: "http://h/${file.path}" } } }
          b: { session: s, files: { root: . }, transfer: { request: { url: "http://h/${file.path}" } } }

        """)
    var table = StepTable(plan)
    table[hostQueueOf: NodeID(0), .transfer] = 3
    #expect(table[hostQueueOf: NodeID(0), .transfer] == 3)
    #expect(table[hostQueueOf: NodeID(0), .commit] == nil)
    #expect(table[hostQueueOf: NodeID(1), .transfer] == nil)
  }
}
