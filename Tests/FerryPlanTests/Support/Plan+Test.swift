import FerryManifest
import FerryPlan
import Testing

extension Plan {
  /// Creates the plan of a valid manifest.
  init(yaml: String) throws {
    let reading = ManifestReader(environment: [:]).read(Array(yaml.utf8), file: "m.yaml")
    let mistakes = reading.diagnostics.map { "\($0.location.line): \($0.message)" }
    self.init(try #require(reading.manifest, "\(mistakes)"))
  }

  func step(of attempt: Attempt) -> Step {
    let node = nodes[attempt.ref.node.index]
    return node.steps.first { $0.kind == attempt.step } ?? node.steps[0]
  }

  func node(_ name: String) throws -> Node { try #require(nodes.first { $0.name == name }) }
}

/// Manifests that several tests use.
enum Yaml {
  static let head = """
    version: 1
    name: test
    sessions: { s: { max_connections_per_host: 2 } }

    """

  static let token = """
    tokens:
      login:
        session: s
        request: { method: POST, url: "http://auth/token" }
        capture: { access: { json: /a } }
        apply: { header: Authorization, value: "Bearer ${token.access}" }

    """

  /// A manifest that sends each file with PUT. `more` has further keys of the upload.
  static func put(_ more: String = "", head: String = Yaml.head) -> String {
    head + """
      uploads:
        up:
          session: s
          files: { root: . }
          transfer: { request: { url: "http://host/${file.path}" } }

      """ + more
  }

  /// A manifest that sends each file with POST, which is not repeatable.
  static func post(_ more: String = "", head: String = Yaml.head) -> String {
    head + """
      uploads:
        up:
          session: s
          files: { root: . }
          transfer: { protocol: post, request: { url: "http://host/${file.path}" } }

      """ + more
  }

  /// A manifest that allocates, transfers and commits each file.
  static func ids(
    _ more: String = "", head: String = Yaml.head, validFor: String = "1h", method: String = "PUT",
    alreadyDone: String = "already_done: { status: [409] }"
  ) -> String {
    head + """
      uploads:
        up:
          session: s
          files: { root: . }
          allocate:
            request: { method: POST, url: "http://host/ids" }
            capture: { id: { json: /id } }
            valid_for: \(validFor)
          transfer: { request: { method: \(method), url: "http://host/ids/${allocate.id}" } }
          commit:
            request: { method: POST, url: "http://host/ids/${allocate.id}/commit" }
            \(alreadyDone)

      """ + more
  }

  static func files(_ count: Int, size: Int64 = 10) -> [String: [String: Int64]] {
    var files: [String: Int64] = [:]
    for index in 0..<count { files["f\(index < 10 ? "0" : "")\(index)"] = size }
    return ["up": files]
  }
}
