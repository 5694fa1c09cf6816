/// A manifest as written: the resulting manifest, and the keys that are consumed while it is read.
struct ManifestDocument: Sendable {
  var manifest: Manifest
  var version = 1
  /// The names in `vars`. Their values are substituted at each use.
  var vars: [String] = []
  /// The included files. `Inclusion` has already added them before anything else is read.
  var include: [String] = []
  /// Checked but not used: `Defaults` has already inserted the values before anything else is read.
  var defaults = DefaultsSection()

  /// The version of the language that this version of ferry reads.
  static let version = 1

  /// The keys of a manifest, in the order in which they are read. `vars` comes before all keys that may use
  /// variables.
  static func shape(file: String) -> ObjectSchema<ManifestDocument> {
    ObjectSchema(
      "Manifest", doc: "The top-level keys of a manifest.",
      keys: [
        Key(
          "version", \.version, .version, isRequired: true, doc: "The version of the manifest language.",
          example: "1"),
        Key(
          "include", \.include, .list(.path), default: "none",
          doc: """
            Other files whose sections are merged with this file's, name by name. Each path is relative to the file that \
            contains it. A name that two files define is an error. An included file needs neither `version` nor `name`; \
            the paths in its other keys (`root`, `save_to`) are relative to the manifest's folder.
            """,
          example: "[common.yaml]"),
        Key(
          "vars", \.vars, .vars, default: "none",
          doc: "Values for references such as `${vars.NAME}`. `--var NAME=VALUE` overrides a value.",
          example: "{ api: \"${env.API:-http://127.0.0.1:8080}\" }"),
        Key(
          "name", \.manifest.name, ValueKind.fileName.located, isRequired: true,
          doc: "The manifest's name. It is part of the names of its journals and of every item's identity.",
          example: "photos"),
        Key(
          "profile", \.manifest.profile, .word(), default: .value("server"),
          doc: "A set of defaults for the policies. Each policy also has its own key.",
          example: "server"),
        Key(
          "secrets", \.manifest.secrets, .named(Secret.shape, in: .secrets), default: "none",
          doc: "The sources of secrets, for references such as `${secrets.NAME}`.",
          example: "{ client_secret: { env: PHOTOS_CLIENT_SECRET } }"),
        Key(
          "defaults", \.defaults, .object(DefaultsSection.shape), default: "none",
          doc: "Default values for sessions, nodes, requests and retries."),
        Key(
          "sessions", \.manifest.sessions, .named(Session.shape, in: .sessions), default: "none",
          doc: "Shared settings of transfers, by session name."),
        Key(
          "tokens", \.manifest.tokens, .named(TokenStep.shape, in: .tokens), default: "none",
          doc: "Steps that fetch authorization tokens, by token name."),
        Key(
          "uploads", \.manifest.uploads, .named(Upload.shape, in: .uploads), default: "none",
          doc: "Upload batches, by name."),
        Key(
          "downloads", \.manifest.downloads, .named(Download.shape, in: .downloads), default: "none",
          doc: "Download batches, by name."),
        Key(
          "fetches", \.manifest.fetches, .named(Fetch.shape, in: .fetches), default: "none",
          doc: "Downloads of single documents, by name."),
        Key(
          "requests", \.manifest.requests, .named(SingleRequest.shape, in: .requests), default: "none",
          doc: "Single requests, by name. Uploads, downloads, fetches and requests share one namespace."),
        Key(
          "on_end", \.manifest.onEnd, .named(OnEndRequest.shape, in: .onEnd), default: "none",
          doc: "Requests, by name, that are sent when a run ends, regardless of its exit code.",
          example: "{ notify: { session: quick, request: { url: http://127.0.0.1:8080/ended } } }"),
        Key(
          "conditions", \.manifest.conditions, .object(Conditions.shape), default: .itsKeys,
          doc: "The machine's network and power."),
        Key(
          "budgets", \.manifest.budgets, .object(Budgets.shape), default: "no limits",
          doc: "The maximum number of bytes that each kind of network may carry in a time window.",
          example: "{ cellular: { limit: 200MB, per: day } }"),
        Key(
          "max_bandwidth", \.manifest.maxBandwidth, BandwidthLimit.kind, default: "no limit",
          doc: """
            The maximum combined rate of all requests of a run and of the user's other runs with such a limit, \
            in bytes per second, for sending and for receiving separately. It can depend on the time of day. \
            `off`: no limit.
            """,
          example: "\"08:00 1MB, 18:00 off\""),
        Key(
          "resume_delay", \.manifest.resumeDelay, .object(ResumeDelay.shape), default: .itsKeys,
          doc: "The delay of new transfers after a resume in the background."),
        Key(
          "execution_window", \.manifest.executionWindow, ExecutionWindow.kind,
          doc: "The time limit for requests of default sessions in a launch.",
          example: "{ background: 30s }"),
        Key(
          "force_quit", \.manifest.forceQuit, .choice(),
          doc:
            "The effect of `ferry cancel`: `cancel_tasks` keeps the session, `remove_session` removes it too.",
          example: "remove_session"),
        Key(
          "report", \.manifest.report, .object(ReportSettings.shape), default: .itsKeys,
          doc: "The contents of the report of a run."),
        Key(
          "engine", \.manifest.engine, .object(EngineSettings.shape), default: .itsKeys,
          doc: "How an engine such as Slurm or Kubernetes runs the shards of the manifest."),
      ],
      blank: { name, profile in ManifestDocument(manifest: Manifest(file: file, name: name, profile: profile))
      },
      finish: { document, node, decoder in
        for budget in node["budgets"]?.members ?? [] {
          let name = budget.key.value
          document.manifest.places.limits[name] = budget.value["limit"]?.location
          document.manifest.places.timeZones[name] = budget.value["time_zone"]?.location
        }
        for policy in ["budgets", "conditions", "resume_delay", "execution_window"] {
          for member in node[policy]?.members ?? [] {
            document.manifest.places.policies["\(policy).\(member.key.value)"] = member.key.location
          }
        }
        decoder.checkIdentifiers(document.manifest)
      })
  }
}

extension ValueKind where Value == Int {
  /// The version of the language. Other versions are rejected with their number.
  fileprivate static var version: Self {
    let only = ManifestDocument.version
    return Self(.integer(only...only)) { node, decoder in
      guard case .integer(let version)? = node.scalar?.value else {
        decoder.mismatch(node, wanted: "the number \(only)")
        return nil
      }
      guard version == only else {
        decoder.report(
          .unknownVersion, at: node.location, "version \(version) of the manifest language is not supported",
          help: "write 'version: \(only)'; this version of ferry supports no other")
        return nil
      }
      return only
    }
  }
}

extension ValueKind where Value == [String] {
  /// Reads the variables before all text that may use them. All of them are resolved, even unused ones.
  fileprivate static var vars: Self {
    let object = ValueKind<Variable>.object(Variable.shape)
    let text = ValueForm.text(what: "string", references: false)
    return Self(.map(key: "name", value: .either([text, object.form]))) { node, decoder in
      guard let members = node.members else {
        decoder.variables.isUnreadable = true
        decoder.mismatch(node, wanted: "a mapping of names to strings")
        return nil
      }
      let outer = decoder.owner
      defer { decoder.owner = outer }
      decoder.varsPlace = outer.location
      for member in members {
        if let problem = NameRule.problem(member.key.value, allowsDots: false) {
          decoder.report(problem, at: member.key.location)
        }
        decoder.owner = member.key
        let declared = member.value.members == nil ? nil : object.decode(member.value, &decoder)
        if let declared, declared.fallback == nil,
          member.value["default"] != nil
            || (declared.required == nil && Variable.hasUnknownKey(member.value))
        {
          // A mistake in the default, or an unknown key that may be a misspelled `default`, has already been
          // reported.
          decoder.variables.resolved[member.key.value] = .broken
        }
        decoder.variables.declare(declared ?? Variable(name: member.key, fallback: member.value))
      }
      for member in members { _ = decoder.variable(member.key.value, at: member.key.location) }
      return members.map(\.key.value)
    }
  }
}
