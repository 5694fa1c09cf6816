extension Secret {
  static let shape = ObjectSchema<Secret>(
    "Secret",
    doc: """
      The source of a secret, which is read when a run starts. The value is never part of a plan, a report or \
      a log.
      """,
    keys: [
      Key(
        "env", \.environmentName, .constant("environment variable name"),
        doc: "The name of an environment variable.",
        example: "PHOTOS_CLIENT_SECRET"),
      Key(
        "file", \.path, .path,
        doc:
          "The path of a regular file of at most 1 MiB, relative to the manifest's folder. One trailing line break is removed from its content.",
        example: "/run/secrets/photos"),
    ],
    rules: [.exactlyOne(["env", "file"])],
    blank: { name, _ in Secret(name: name, source: .file("")) },
    finish: { _, node, decoder in
      guard let name = node["env"], let text = name.scalar?.text else { return }
      decoder.variables.note(
        EnvironmentUse(name: text, location: name.location, hasDefault: false, isSecret: true))
    })

  private var environmentName: String? {
    get { if case .environment(let name) = source { name } else { nil } }
    set { if let newValue { source = .environment(newValue) } }
  }

  private var path: String? {
    get { if case .file(let path) = source, !path.isEmpty { path } else { nil } }
    set { if let newValue { source = .file(newValue) } }
  }
}
