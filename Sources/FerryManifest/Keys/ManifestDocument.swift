/// A manifest as written: the resulting manifest, and the keys that are used up while it is read.
struct ManifestDocument: Sendable {
  var manifest: Manifest
  var version = 1
  /// The names in `vars`. Their values are substituted where they are used.
  var vars: [String] = []
  /// The included files. They are added before anything is read (`Inclusion`).
  var include: [String] = []
  /// Only checked: it is used before anything is read (`Defaults`).
  var defaults = DefaultsSection()

  /// The version of the language that this version of ferry reads.
  static let version = 1

  /// The keys of a manifest, in the order in which they are read. `vars` comes before everything that may use
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
            Other files whose sections are united with these, name by name; paths are relative to the file that \
            names them. What two files define is an error. An included file needs neither `version` nor `name`; \
            what its keys name (`root`, `save_to`) is relative to the manifest's folder, as everywhere.
            """,
          example: "[common.yaml]"),
        Key(
          "vars", \.vars, .vars, default: "none",
          doc: "Values that can be used as `${vars.NAME}`. `--var NAME=VALUE` overrides one.",
          example: "{ api: \"${env.API:-http://127.0.0.1:8080}\" }"),
        Key(
          "name", \.manifest.name, ValueKind.fileName.located, isRequired: true,
          doc: "The manifest's name. It is part of the names of its journals and of every item's identity.",
          example: "photos"),
        Key(
          "profile", \.manifest.profile, .word(), default: .value("server"),
          doc: "A set of defaults for the policies. Each of them can also be set by its key.",
          example: "server"),
        Key(
          "secrets", \.manifest.secrets, .named(Secret.shape, in: .secrets), default: "none",
          doc: "Where secrets are read from, for `${secrets.NAME}`.",
          example: "{ client_secret: { env: PHOTOS_CLIENT_SECRET } }"),
        Key(
          "defaults", \.defaults, .object(DefaultsSection.shape), default: "none",
          doc: "Default values of sessions, nodes, requests and retries."),
        Key(
          "sessions", \.manifest.sessions, .named(Session.shape, in: .sessions), default: "none",
          doc: "Rules that transfers share, by session name."),
        Key(
          "tokens", \.manifest.tokens, .named(TokenStep.shape, in: .tokens), default: "none",
          doc: "Authorization-token steps by name."),
        Key(
          "uploads", \.manifest.uploads, .named(Upload.shape, in: .uploads), default: "none",
          doc: "Upload batches by name."),
        Key(
          "fetches", \.manifest.fetches, .named(Fetch.shape, in: .fetches), default: "none",
          doc: "Downloads by name."),
        Key(
          "requests", \.manifest.requests, .named(SingleRequest.shape, in: .requests), default: "none",
          doc: "Single requests by name. Uploads, fetches and requests share one namespace."),
        Key(
          "conditions", \.manifest.conditions, .object(Conditions.shape), default: .itsKeys,
          doc: "Which network and power the machine has."),
        Key(
          "budgets", \.manifest.budgets, .object(Budgets.shape), default: "no limits",
          doc: "How many bytes a kind of network may carry in a window of time.",
          example: "{ cellular: { limit: 200MB, per: day } }"),
        Key(
          "resume_delay", \.manifest.resumeDelay, .object(ResumeDelay.shape), default: .itsKeys,
          doc: "How long new transfers wait after a resume in the background."),
        Key(
          "execution_window", \.manifest.executionWindow, ExecutionWindow.kind,
          doc: "How long requests of default sessions may run in a launch.",
          example: "{ background: 30s }"),
        Key(
          "force_quit", \.manifest.forceQuit, .choice(),
          doc: "What `ferry cancel` keeps: with `cancel_tasks` the session, with `remove_session` nothing.",
          example: "remove_session"),
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
  /// The version of the language. Other versions are refused by number.
  fileprivate static var version: Self {
    let only = ManifestDocument.version
    return Self(.integer(only...only)) { node, decoder in
      guard case .integer(let version)? = node.scalar?.value else {
        decoder.mismatch(node, wanted: "the number \(only)")
        return nil
      }
      guard version == only else {
        decoder.report(
          .unknownVersion, at: node.location, "version \(version) of the manifest language is not known",
          help: "this ferry reads 'version: \(only)'")
        return nil
      }
      return only
    }
  }
}

extension ValueKind where Value == [String] {
  /// Reads the variables, so that every later text can use them. All are resolved, whether used or not.
  fileprivate static var vars: Self {
    let object = ValueKind<Variable>.object(Variable.shape)
    let text = ValueForm.text(what: "text", references: false)
    return Self(.map(key: "name", value: .either([text, object.form]))) { node, decoder in
      guard let members = node.members else {
        decoder.variables.isUnreadable = true
        decoder.mismatch(node, wanted: "a mapping of names to texts")
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
          // The mistake in its default has already been reported, as has an unknown key that may stand for it.
          decoder.variables.resolved[member.key.value] = .broken
        }
        decoder.variables.declare(declared ?? Variable(name: member.key, fallback: member.value))
      }
      for member in members { _ = decoder.variable(member.key.value, at: member.key.location) }
      return members.map(\.key.value)
    }
  }
}
