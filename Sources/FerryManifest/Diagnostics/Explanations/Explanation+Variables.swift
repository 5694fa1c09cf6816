extension Explanation {
  static let undeclaredVariable = Explanation(
    "A variable that the manifest does not declare",
    """
    `--var` and `--vars-file` set variables that the manifest declares under `vars`. This manifest does not \
    declare a variable with this name. A misspelled name would leave the default in force, and nobody would \
    notice. Correct the \
    spelling, or declare the variable.
    """,
    wrong: Example(manifest: folderVariable, variables: ["floder": "/srv/photos"]),
    right: Example(manifest: folderVariable, variables: ["folder": "/srv/photos"]))

  static let missingVariable = Explanation(
    "A required variable without a value",
    """
    The variable has no default, so its value must be set when ferry is started. Set it with `--var \
    NAME=VALUE` or in a `--vars-file`. If one value fits most cases, declare it as the `default`. With \
    `required: false`, the variable is empty if it is not set.
    """,
    wrong: Example(manifest: requiredVariable),
    right: Example(manifest: requiredVariable, variables: ["folder": "/srv/photos"]))

  static let invalidVariable = Explanation(
    "A value that does not match the type of its variable",
    """
    The variable is declared with a `type`, but the value from `--var`, from a file or from its `default` is \
    not of that type. Durations and sizes need a unit. Change the value or the type.
    """,
    wrong: Example(manifest: typedVariable, variables: ["patience": "long"]),
    right: Example(manifest: typedVariable, variables: ["patience": "10m"]))

  static let invalidFilter = Explanation(
    "A filter that does not exist, or too many",
    """
    A reference can pass its value through filters: `${file.path | url}`. The text after a `|` must be the name of a \
    filter, as listed in [the manifest](manifest.md#filters). If there is a similar name, the help suggests it. A \
    reference can have at most eight filters.
    """,
    in: """
      version: 1
      name: photos
      sessions: { quick: {} }
      uploads:
        photos:
          session: quick
          files: { root: Pictures }
          transfer:
            request:
              url: https://example.com/upload
              headers: { X-Name: "${file.path | ◊}" }
      """, wrong: "base46", right: "base64")

  private static let folderVariable = """
    version: 1
    name: photos
    vars: { folder: Pictures }

    """

  private static let requiredVariable = """
    version: 1
    name: photos
    vars:
      folder: { type: string, required: true, description: Where the photos are. }

    """

  private static let typedVariable = """
    version: 1
    name: photos
    vars:
      patience: { type: duration, default: 30s, description: How long a response may take. }

    """
}
