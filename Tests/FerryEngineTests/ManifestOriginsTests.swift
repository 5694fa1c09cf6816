import FerryManifest
import FerryPlan
import FerryTransfer
import Testing

@testable import FerryEngine

/// The origins that a manifest names, grouped by the values that may be sent to them.
struct ManifestOriginsTests {
  private static let yaml = """
    version: 1
    name: test
    vars: { api: "http://u:p@api.example" }
    secrets: { base: { env: BASE } }
    sessions: { a: {}, b: {} }
    tokens:
      login:
        session: b
        request: { url: "http://auth.example/token" }
        capture: { t: { json: /t } }
        apply: { header: Authorization, value: "Bearer ${token.t}", origins: ["https://*.example.com"] }
    uploads:
      up:
        session: a
        token: login
        files: { root: . }
        allocate: { session: b, request: { url: "${vars.api}/ids" }, capture: { u: { json: /u }, h: { json: /h } } }
        transfer: { request: { url: "${allocate.u}" } }
        commit: { request: { url: "https://${allocate.h}/x" } }
    fetches:
      f: { session: a, request: { url: "${secrets.base | lower}/f" }, save_to: f }
      g: { session: a, request: { url: "http://plain.example/g" }, save_to: g }

    """

  private func plan() throws -> Plan {
    let reading = ManifestReader(environment: [:]).read(Array(Self.yaml.utf8), file: "m.yaml")
    return Plan(try #require(reading.manifest, "\(reading.diagnostics)"))
  }

  private func step(_ node: String, _ kind: Step.Kind, _ plan: Plan) throws -> (Step, Int) {
    let index = try #require(plan.nodes.firstIndex { $0.name == node })
    return (try #require(plan.nodes[index].steps.first { $0.kind == kind }), index)
  }

  private func origin(_ url: String) throws -> Origin { try #require(Origin(url: url)) }

  @Test func onlyTheManifestsOwnURLsNameAnOrigin() throws {
    let plan = try plan()
    let origins = ManifestOrigins(plan, secrets: ["base": SensitiveValue("HTTPS://SECRET.example:444")])
    let (transfer, up) = try step("up", .transfer, plan)
    let known = origins.known(to: transfer, of: up)
    let api = try origin("http://api.example")
    // These are the origins of the session, one of which is a secret. A request may also go to the origin of its node.
    #expect(
      known.session.origins == [try origin("https://secret.example:444"), try origin("http://plain.example")])
    #expect(known.request.origins == known.session.origins.union([api]))
    // These are the origins of requests that use the token, and of the request that fetches it.
    #expect(known.token.origins == [api, try origin("http://auth.example")])
    #expect(known.token.contains(try origin("https://up.example.com")))
    #expect(!known.token.contains(try origin("http://up.example.com")))
    #expect(!known.token.contains(try origin("http://plain.example")))
    #expect(known.userinfo == [api: Userinfo(user: "u", password: "p")])
    // A response to another node may lead to the same origin, but not with this account.
    let (fetch, g) = try step("g", .fetch, plan)
    #expect(origins.known(to: fetch, of: g).userinfo.isEmpty)
  }

  @Test func aURLWhoseHostAResponseGivesIsCaptured() throws {
    let plan = try plan()
    let origins = ManifestOrigins(plan, secrets: ["base": SensitiveValue("https://secret.example")])
    for (node, kind, isCaptured) in [
      ("login", Step.Kind.token, false), ("up", .allocate, false), ("up", .transfer, true),
      ("up", .commit, true), ("f", .fetch, false), ("g", .fetch, false),
    ] {
      #expect(origins.isCaptured(try step(node, kind, plan).0) == isCaptured, "\(node) \(kind)")
    }
  }
}
