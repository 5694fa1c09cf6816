/// A typed manifest with its defaults filled in and `vars` and `env` substituted.
package struct Manifest: Equatable, Sendable {
  /// The path as the user gave it.
  package var file: String
  package var name: Located<String>
  /// The source of the policies' defaults. The policies below already include them.
  package var profile: Profile
  package var secrets: [Secret]
  package var sessions: [Session]
  package var tokens: [TokenStep]
  package var uploads: [Upload]
  package var downloads: [Download] = []
  package var fetches: [Fetch]
  package var requests: [SingleRequest]
  /// The requests that a run sends when its work has ended.
  package var onEnd: [OnEndRequest] = []
  package var conditions: Conditions
  package var budgets: Budgets
  /// The limit of all sessions together; `nil` for none.
  package var maxBandwidth: BandwidthLimit?
  package var resumeDelay: ResumeDelay
  package var executionWindow: ExecutionWindow
  package var forceQuit: ForceQuit
  package var report = ReportSettings()
  /// How an engine runs the shards.
  package var engine = EngineSettings()
  package var places = Places()

  /// The locations of content that only a plan can check. All values compare as equal, so adding a comment
  /// to the manifest does not change a plan.
  package struct Places: Equatable, Sendable {
    /// The locations of each network's `limit` and `time_zone`, by the network's name.
    package var limits: [String: SourceLocation] = [:]
    package var timeZones: [String: SourceLocation] = [:]
    /// The locations of the written keys of policies, such as `budgets.wifi` or `resume_delay.initial`.
    package var policies: [String: SourceLocation] = [:]

    package init() {}
    package static func == (a: Self, b: Self) -> Bool { true }
  }

  package init(
    file: String, name: Located<String>, profile: Profile = .server, secrets: [Secret] = [],
    sessions: [Session] = [],
    tokens: [TokenStep] = [], uploads: [Upload] = [], fetches: [Fetch] = [],
    requests: [SingleRequest] = [], conditions: Conditions = .init(), budgets: Budgets = .init()
  ) {
    self.file = file
    self.name = name
    self.profile = profile
    self.secrets = secrets
    self.sessions = sessions
    self.tokens = tokens
    self.uploads = uploads
    self.fetches = fetches
    self.requests = requests
    self.conditions = conditions
    self.budgets = budgets
    resumeDelay = ResumeDelay(profile)
    executionWindow = ExecutionWindow(profile)
    forceQuit = ForceQuit(profile)
  }
}
