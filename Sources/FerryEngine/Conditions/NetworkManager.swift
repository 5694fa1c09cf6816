import FerryProcess

/// What NetworkManager knows of an interface, where it runs (nmcli(1)).
package enum NetworkManager {
  /// Whether an interface is paid by volume; `nil` where nobody knows.
  package static func isMetered(_ interface: String) -> Bool? {
    let program = ChildProgram(
      path: "/usr/bin/nmcli",
      arguments: ["--terse", "--get-values", "GENERAL.METERED", "device", "show", interface],
      environment: ["PATH": "/usr/bin:/bin", "LC_ALL": "C"])
    // It answers from memory; one that does not is not waited for.
    guard let output = program.standardOutput(within: .seconds(2)) else { return nil }
    return meaning(of: String(decoding: output, as: UTF8.self))
  }

  /// `yes`, `no`, either as a guess, or `unknown`.
  package static func meaning(of answer: String) -> Bool? {
    switch answer.split(whereSeparator: \.isWhitespace).first {
    case "yes": true
    case "no": false
    default: nil
    }
  }
}
