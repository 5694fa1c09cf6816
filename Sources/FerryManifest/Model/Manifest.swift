/// A manifest as its author meant it: typed, defaults filled in, `vars` and `env` put in.
package struct Manifest: Equatable, Sendable {
  /// The path as the user gave it.
  package var file: String
  package var name: Located<String>
  package var secrets: [Secret]
  package var sessions: [Session]
  package var tokens: [TokenStep]
  package var uploads: [Upload]
  package var fetches: [Fetch]
  package var requests: [SingleRequest]

  package init(
    file: String, name: Located<String>, secrets: [Secret] = [], sessions: [Session] = [],
    tokens: [TokenStep] = [], uploads: [Upload] = [], fetches: [Fetch] = [],
    requests: [SingleRequest] = []
  ) {
    self.file = file
    self.name = name
    self.secrets = secrets
    self.sessions = sessions
    self.tokens = tokens
    self.uploads = uploads
    self.fetches = fetches
    self.requests = requests
  }
}
