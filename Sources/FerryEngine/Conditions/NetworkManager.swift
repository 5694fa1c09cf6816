import FerryProcess

/// Queries NetworkManager (nmcli(1)) about an interface, if NetworkManager is running.
package enum NetworkManager {
  /// Whether an interface is metered; `nil` if unknown.
  package static func isMetered(_ interface: String) -> Bool? {
    let program = ChildProgram(
      path: "/usr/bin/nmcli",
      arguments: ["--terse", "--get-values", "GENERAL.METERED", "device", "show", interface],
      environment: ["PATH": "/usr/bin:/bin", "LC_ALL": "C"])
    // NetworkManager normally responds at once, from memory. Do not wait for a response that takes longer.
    guard let output = program.standardOutput(within: .seconds(2)) else { return nil }
    return meaning(of: String(decoding: output, as: UTF8.self))
  }

  /// Parses `yes`, `no` (either may be marked as a guess) or `unknown`.
  package static func meaning(of answer: String) -> Bool? {
    switch answer.split(whereSeparator: \.isWhitespace).first {
    case "yes": true
    case "no": false
    default: nil
    }
  }
}
