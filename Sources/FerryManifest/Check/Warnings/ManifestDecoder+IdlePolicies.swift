extension ManifestDecoder {
  /// F0711. Warns of policies that have no effect, because policies apply to sessions of certain kinds. Only
  /// keys that are present and differ from the default are checked. Keys of an included file are not checked,
  /// because several manifests may share the file.
  mutating func warnOfIdlePolicies(_ manifest: Manifest) {
    let used = Set(nameUses.filter { $0.purpose == .session }.map(\.name.value))
    let sessions = manifest.sessions.filter { used.contains($0.name.value) }
    guard !sessions.isEmpty else { return }
    warnOfIdleBudgets(manifest, sessions)
    warnOfIdleConditions(manifest, sessions)
    warnOfIdleDelay(manifest, sessions)
    // With a command, the end of the window has an effect regardless of the kinds of sessions.
    if manifest.executionWindow.onExpiry.isEmpty, sessions.allSatisfy({ $0.kind == .background }) {
      warnOfIdleWindow(manifest)
    }
    warnOfIdleExpiry(manifest)
    warnOfIdleInference(sessions, manifest.profile)
  }

  private mutating func warnOfIdleInference(_ sessions: [Session], _ profile: Profile) {
    for session in sessions
    where session.discretionary != session.effectiveDiscretion
      && session.discretionary != Session.Discretionary(profile)
    {
      guard let key = declared.declaration(session.name.value, in: .sessions)?.node["discretionary"],
        key.location.file == start.file
      else { continue }
      warn(
        .idlePolicy, at: key.location, "this has no effect: 'inferred' applies only to background sessions",
        help: "remove it, or use 'kind: background'")
    }
  }

  private mutating func warnOfIdleWindow(_ manifest: Manifest) {
    let kinds: [(name: String, length: KeyPath<ExecutionWindow, Duration?>)] = [
      ("foreground", \.foreground), ("background", \.background), ("fetch", \.fetch), ("event", \.event),
      ("continuous", \.continuous), ("resume", \.resume),
    ]
    let defaults = ExecutionWindow(manifest.profile)
    for kind in kinds
    where manifest.executionWindow[keyPath: kind.length] != defaults[keyPath: kind.length] {
      warnOfIdlePolicy(
        manifest, "execution_window.\(kind.name)",
        "every session is a background session, and windows do not limit background sessions",
        help: "remove it, or use a session of a different kind for requests that must not outlive the launch")
    }
  }

  private mutating func warnOfIdleExpiry(_ manifest: Manifest) {
    let window = manifest.executionWindow
    guard !window.onExpiry.isEmpty,
      [window.foreground, window.background, window.fetch, window.event, window.continuous].allSatisfy({
        $0 == nil
      })
    else { return }
    warnOfIdlePolicy(
      manifest, "execution_window.on_expiry", "no kind of launch has an execution window",
      help: "remove it, or set a window, such as 'background: 30s'")
  }

  private mutating func warnOfIdleBudgets(_ manifest: Manifest, _ sessions: [Session]) {
    for scope in Budget.Scope.allCases {
      guard let budget = manifest.budgets[scope] else { continue }
      let key = "budgets.\(scope.rawValue)"
      if budget.binds == .discretionary, sessions.allSatisfy({ $0.effectiveDiscretion == .no }) {
        warnOfIdlePolicy(
          manifest, key, "it limits discretionary sessions, and no session is discretionary",
          help: "limit every session with 'binds: all', or make a session 'discretionary: true'")
      } else if scope == .cellular, sessions.allSatisfy({ !$0.allowsCellular || !$0.allowsExpensive }) {
        warnOfIdlePolicy(
          manifest, key, "no session may use a cellular network",
          help: "remove it, or set a session's 'allows_cellular' and 'allows_expensive' to true")
      }
    }
  }

  private mutating func warnOfIdleConditions(_ manifest: Manifest, _ sessions: [Session]) {
    let isDiscretionary = sessions.contains { $0.effectiveDiscretion != .no }
    if !isDiscretionary, manifest.budgets == Budgets(),
      ![.auto, .none].contains(manifest.conditions.network),
      sessions.allSatisfy({ $0.allowsCellular && $0.allowsExpensive })
    {
      warnOfIdlePolicy(
        manifest, "conditions.network", "no session and no budget depends on the kind of network",
        help: "remove it, or restrict a session with 'allows_cellular' or 'discretionary'")
    }
    if !isDiscretionary, manifest.conditions.power != .auto {
      warnOfIdlePolicy(
        manifest, "conditions.power", "no session is discretionary, so none waits for external power",
        help: "remove it, or make a session 'discretionary: true'")
    }
  }

  private mutating func warnOfIdleDelay(_ manifest: Manifest, _ sessions: [Session]) {
    let (delay, defaults) = (manifest.resumeDelay, ResumeDelay(manifest.profile))
    if delay.policy == .none {
      let changed = [
        ("initial", delay.initial != defaults.initial), ("factor", delay.factor != defaults.factor),
        ("max", delay.max != defaults.max), ("reset", delay.reset != defaults.reset),
      ]
      for (key, isChanged) in changed where isChanged {
        warnOfIdlePolicy(
          manifest, "resume_delay.\(key)", "the policy is 'none', so nothing is delayed",
          help: "remove it, or choose 'policy: before_start' or 'policy: after_completion'")
      }
    } else if delay.policy != defaults.policy, sessions.allSatisfy({ $0.kind != .background }) {
      warnOfIdlePolicy(
        manifest, "resume_delay.policy",
        "no session is a background session, and only background sessions are delayed",
        help: "remove it, or use a session of 'kind: background'")
    }
  }

  /// Warns of a key if it is written in the manifest itself.
  private mutating func warnOfIdlePolicy(
    _ manifest: Manifest, _ key: String, _ reason: String, help: String
  ) {
    guard let location = manifest.places.policies[key], location.file == start.file else { return }
    warn(.idlePolicy, at: location, "this has no effect: \(reason)", help: help)
  }
}
