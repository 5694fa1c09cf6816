/// The texts of manifests that the tests run. The files to send are in the folder `files` beside the manifest.
enum JobText {
  static let retry = "retry: { limit: 6, initial: 10ms, factor: 2, max: 200ms }"

  /// A manifest with the sessions `quick` and `uploads` (`e2e.uploads`), the token `login`, and the given nodes.
  static func text(
    server: String, name: String = "e2e", connections: Int = 4, refresh: String = "before_expiry: 1s",
    _ nodes: String...
  ) -> String {
    """
    version: 1
    name: \(name)
    vars:
      api: \(server)
    secrets:
      client_secret: { env: E2E_SECRET }
    sessions:
      quick: { timeout_for_request: 20s, max_connections_per_host: \(connections) }
      uploads:
        kind: background
        identifier: \(name).uploads
        max_connections_per_host: \(connections)
        timeout_for_request: 20s
    tokens:
      login:
        session: quick
        request:
          method: POST
          url: ${vars.api}/oauth/token
          form: { grant_type: client_credentials, client_id: e2e, client_secret: "${secrets.client_secret}" }
        capture:
          access_token: { json: /access_token, secret: true }
          expires_in: { json: /expires_in }
        apply: { header: Authorization, value: "Bearer ${token.access_token}" }
        refresh: { \(refresh) }
        \(retry)

    """ + nodes.joined(separator: "\n") + "\n"
  }

  /// The upload `files`, which needs a token. Each file has an upload ID, a transfer and a commit.
  ///
  /// - Parameter recognized: the settings that make a repeated commit recognizable.
  static func uploadIDs(
    validFor: String = "1h", retry: String = retry, recognized: String = "already_done: { status: [409] }"
  ) -> String {
    """
    uploads:
      files:
        session: uploads
        token: login
        files: { root: files }
        allocate:
          session: quick
          request: { url: "${vars.api}/uploads", json: { name: "${file.path}", size: "${file.size}" } }
          capture: { id: { json: /id } }
          valid_for: \(validFor)
        transfer:
          request: { url: "${vars.api}/uploads/${allocate.id}/content" }
        commit:
          session: quick
          request:
            url: ${vars.api}/uploads/${allocate.id}/commit
            json: { size: "${file.size}", sha256: "${file.sha256}" }
          \(recognized)
        \(retry)
    """
  }

  /// Recognizes an executed commit by requesting the state of the upload.
  static let probe = """
    probe: { request: { url: "${vars.api}/uploads/${allocate.id}" }, expect: { json: { /state: committed } } }
    """

  /// The upload `files` that sends each file with PUT.
  static let puts = """
    uploads:
      files:
        session: uploads
        files: { root: files }
        transfer:
          request: { url: "${vars.api}/files/${file.path}" }
        \(retry)
    """

  /// The upload `files` that sends each file with POST, which cannot be repeated.
  static let posts = """
    uploads:
      files:
        session: uploads
        files: { root: files }
        transfer:
          protocol: post
          request: { url: "${vars.api}/inbox?name=${file.path}" }
        \(retry)
    """

  /// The fetch `catalog`, which writes catalog.json.
  static func catalog(_ more: String...) -> String {
    ([
      "fetches:", "  catalog:", "    session: quick", "    request: { url: \"${vars.api}/catalog.json\" }",
      "    save_to: catalog.json", "    \(retry)",
    ] + more.map { "    \($0)" }).joined(separator: "\n")
  }

  /// Single requests that send their names to `/done`, each with its condition.
  static func notes(_ conditions: [(name: String, when: String)], needs: String = "files") -> String {
    "requests:\n"
      + conditions.map { name, when in
        """
          \(name):
            session: quick
            needs: [\(needs)]
            when: \(when)
            request:
              url: ${vars.api}/done
              json: { run: "${run.id}", node: \(name), failed: "${run.failed}" }
        """
      }.joined(separator: "\n")
  }
}
