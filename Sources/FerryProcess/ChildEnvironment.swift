/// The environment of programs that ferry starts: a small set of variables, so that secrets are not passed
/// to them.
package enum ChildEnvironment {
  /// The variables to pass in addition to all variables whose names begin with `LC_`.
  package static let names: Set<String> = [
    "PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ", "TMPDIR", "XDG_RUNTIME_DIR",
  ]

  /// Returns the variables that a child process receives.
  ///
  /// - Parameters:
  ///   - environment: this process's environment.
  ///   - requested: names of additional variables.
  ///   - withheld: names that are never passed: the variables from which secrets are read.
  package static func variables(
    of environment: [String: String], requested: Set<String> = [], withheld: Set<String> = []
  ) -> [String: String] {
    environment.filter { name, _ in
      (names.contains(name) || name.hasPrefix("LC_") || requested.contains(name)) && !withheld.contains(name)
    }
  }
}
