/// The environment of programs that ferry starts: a small set of variables, so that no secret reaches the
/// programs.
package enum ChildEnvironment {
  /// Passed in addition to every variable whose name begins with `LC_`.
  package static let names: Set<String> = [
    "PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ", "TMPDIR", "XDG_RUNTIME_DIR",
  ]

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
