extension Explanation {
  static let undeclaredVariable = Explanation(
    "A variable from outside that the manifest does not declare",
    """
    `--var` and `--vars-file` give values to the variables that the manifest declares under `vars`, and it declares \
    none of this name. A misspelt name would otherwise leave the default in force, and nobody would notice. Mind \
    the spelling, or declare the variable.
    """,
    wrong: Example(manifest: folderVariable, variables: ["floder": "/srv/photos"]),
    right: Example(manifest: folderVariable, variables: ["folder": "/srv/photos"]))

  static let missingVariable = Explanation(
    "A required variable without a value",
    """
    The variable has no default, so whoever starts ferry has to choose its value. Give it with `--var NAME=VALUE` \
    or in a `--vars-file`. Where there is a value that fits most cases, declare it as the `default`; with \
    `required: false` the variable is empty where nobody gives it.
    """,
    wrong: Example(manifest: requiredVariable),
    right: Example(manifest: requiredVariable, variables: ["folder": "/srv/photos"]))

  static let invalidVariable = Explanation(
    "A value that does not fit its variable's type",
    """
    The variable is declared with a `type`, and the value that it was given, by `--var`, a file or its own \
    `default`, is none of that type. Durations and sizes need their unit, as everywhere. Change the value, or the \
    type.
    """,
    wrong: Example(manifest: typedVariable, variables: ["patience": "long"]),
    right: Example(manifest: typedVariable, variables: ["patience": "10m"]))

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
      patience: { type: duration, default: 30s, description: How long an answer may take. }

    """
}
