import FerryManifest
import FerryPlan

/// A random manifest, described by a small number of choices that a shrinker can undo one by one.
package struct ManifestSpec: Hashable, Sendable {
  package struct BudgetSpec: Hashable, Sendable {
    package var limit: Int64
    package var per: Budget.Window
    package var cutoff: Budget.Cutoff
    /// The sessions that the budget limits; `nil` for the default of the profile.
    package var binds: Budget.Binding?
  }

  package var profile = Profile.server
  package var isBackground = true
  package var discretionary: Bool?
  package var allowsCellular = true
  package var allowsExpensive = true
  package var connections = 2
  package var quickConnections = 2
  package var timeoutForResource: String?
  package var wifi: BudgetSpec?
  package var wired: BudgetSpec?
  package var cellular: BudgetSpec?
  package var any: BudgetSpec?
  package var delay: ResumeDelay.Policy?
  /// The event that resets the resume delay; `nil` for the default of the profile.
  package var delayReset: ResumeDelay.Reset?
  package var delayInitialSeconds = 60
  package var delayMaxSeconds = 21_600
  /// The execution window of background launches.
  package var windowSeconds: Int?
  /// The window of a resume.
  package var resumeWindowSeconds: Int?
  package var hasToken = false
  package var uploads: [UploadSpec] = []
  package var fetch: SingleSpec?
  package var request: SingleSpec?

  /// A fetch or a request.
  package struct SingleSpec: Hashable, Sendable {
    package var isInBackground = false
    package var needs: [String] = []
    package var hasToken = false
    /// The condition under which a request is sent; not used for a fetch.
    package var when = "succeeded"
    /// Whether the request's method is POST; not used for a fetch.
    package var isPost = true
    /// The interval, for a fetch.
    package var interval: String?
  }

  init() {}

  static func random(_ random: inout RandomSource) -> ManifestSpec {
    var spec = ManifestSpec()
    spec.profile = random.one(of: [.server, .server, .ios, .ios, .ios7])
    spec.isBackground = !random.once(in: 4)
    if random.once(in: 3) { spec.discretionary = random.once(in: 2) }
    spec.allowsCellular = !random.once(in: 4)
    spec.allowsExpensive = !random.once(in: 4)
    spec.connections = random.roll(1...3)
    spec.quickConnections = random.roll(1...3)
    spec.timeoutForResource = random.one(of: ["400d", "400d", "400d", "7d", "10m"])
    if random.once(in: 3) { spec.wifi = budget(&random) }
    if random.once(in: 3) { spec.wired = budget(&random) }
    if random.once(in: 3) { spec.cellular = budget(&random) }
    if random.once(in: 4) { spec.any = budget(&random) }
    if random.once(in: 3) { spec.delay = random.one(of: ResumeDelay.Policy.allCases) }
    spec.delayReset = random.one(of: [nil, .foreground, .idle])
    spec.delayInitialSeconds = random.one(of: [60, 60, 5, 0])
    spec.delayMaxSeconds = random.one(of: [21_600, 21_600, 100])
    if random.once(in: 3) { spec.windowSeconds = random.one(of: [30, 5, 1, 0]) }
    if random.once(in: 3) { spec.resumeWindowSeconds = random.one(of: [30, 5, 1, 0]) }
    spec.hasToken = random.once(in: 2)
    spec.uploads = [.random(&random, name: "a", hasToken: spec.hasToken)]
    if random.once(in: 2) {
      var second = UploadSpec.random(&random, name: "b", hasToken: spec.hasToken)
      if random.once(in: 4) { second.needsOther = "a" }
      spec.uploads.append(second)
    }
    if random.once(in: 3) {
      var fetch = single(&random, spec)
      fetch.interval = random.one(of: [nil, "{ minimum: 15m }", "{ minimum: 1m, maximum: 1h }"])
      spec.fetch = fetch
    }
    if random.once(in: 2) {
      var request = single(&random, spec)
      request.when = random.one(of: ["succeeded", "always", "always", "failed"])
      request.isPost = !random.once(in: 3)
      spec.request = request
    }
    return spec
  }

  private static func single(_ random: inout RandomSource, _ spec: ManifestSpec) -> SingleSpec {
    var single = SingleSpec()
    single.isInBackground = random.once(in: 3)
    single.needs = spec.uploads.map(\.name).filter { _ in random.once(in: 2) }
    single.hasToken = spec.hasToken && random.once(in: 2)
    return single
  }

  private static func budget(_ random: inout RandomSource) -> BudgetSpec {
    BudgetSpec(
      limit: random.one(of: [1_000, 1_000_000, 3_000_000, 10_000_000]), per: random.one(of: [.hour, .day]),
      cutoff: random.one(of: Budget.Cutoff.allCases), binds: random.one(of: [nil, nil, .all, .discretionary]))
  }

  var plan: Plan? { reading.manifest.map { Plan($0) } }

  /// The reader's error messages, if it rejects the manifest.
  var mistakes: [String] {
    let reading = reading
    return reading.manifest != nil ? [] : reading.diagnostics.map { "\($0.location.line): \($0.message)" }
  }

  private var reading: ManifestReading {
    ManifestReader(environment: [:]).read(Array(yaml.utf8), file: "world.yaml")
  }

  package var yaml: String {
    var text = "version: 1\nname: world\n"
    if profile != .server { text += "profile: \(profile.rawValue)\n" }
    var up = ["kind: \(isBackground ? "background" : "default")", "max_connections_per_host: \(connections)"]
    if let discretionary { up.append("discretionary: \(discretionary)") }
    if !allowsCellular { up.append("allows_cellular: false") }
    if !allowsExpensive { up.append("allows_expensive: false") }
    if let timeoutForResource { up.append("timeout_for_resource: \(timeoutForResource)") }
    text += "sessions:\n  up: { \(up.joined(separator: ", ")) }\n"
    text += "  quick: { max_connections_per_host: \(quickConnections) }\n"
    let budgets = [("wifi", wifi), ("wired", wired), ("cellular", cellular), ("any", any)]
    if budgets.contains(where: { $0.1 != nil }) { text += "budgets:\n" }
    for case (let name, let budget?) in budgets {
      text += "  \(name): { limit: \(budget.limit)B, per: \(budget.per.rawValue), "
      text += "cutoff: \(budget.cutoff.rawValue)\(budget.binds.map { ", binds: \($0.rawValue)" } ?? "") }\n"
    }
    if let delay {
      text += "resume_delay: { policy: \(delay.rawValue), initial: \(delayInitialSeconds)s, "
      text += "max: \(max(delayMaxSeconds, delayInitialSeconds))s"
      text += "\(delayReset.map { ", reset: \($0.rawValue)" } ?? "") }\n"
    }
    let windows = [("background", windowSeconds), ("resume", resumeWindowSeconds)]
      .compactMap { kind, seconds in seconds.map { "\(kind): \($0)s" } }
    if !windows.isEmpty { text += "execution_window: { \(windows.joined(separator: ", ")) }\n" }
    if hasToken {
      text += """
        tokens:
          t:
            session: quick
            request: { method: POST, url: "http://auth/token" }
            capture: { access: { json: /a }, base: { json: /b } }
            apply: { header: Authorization, value: "Bearer ${token.access}" }
            retry: { limit: 3 }

        """
    }
    let (sent, received) = (uploads.filter { !$0.isDownload }, uploads.filter(\.isDownload))
    if !sent.isEmpty { text += "uploads:\n" + sent.map(\.yaml).joined() }
    if !received.isEmpty { text += "downloads:\n" + received.map(\.yaml).joined() }
    if let fetch {
      text +=
        "fetches:\n  f: { \(common(fetch)), interval: \(fetch.interval ?? "every_run"), save_to: f.json, "
      text += "request: { url: \"http://host/f\" } }\n"
    }
    if let request {
      text += "requests:\n  r: { \(common(request)), when: \(request.when), "
      text += "request: { method: \(request.isPost ? "POST" : "PUT"), url: \"http://host/r\" } }\n"
    }
    return text
  }

  private func common(_ single: SingleSpec) -> String {
    var keys = ["session: \(single.isInBackground ? "up" : "quick")"]
    if !single.needs.isEmpty { keys.append("needs: [\(single.needs.joined(separator: ", "))]") }
    if single.hasToken { keys.append("token: t") }
    return keys.joined(separator: ", ")
  }
}
