/// The list of hostile responses that `ferry-receiver --list-faults` prints.
package enum FaultList {
  package static var text: String {
    let width = HostileResponse.allCases.map(\.rawValue.count).max() ?? 0
    let sections = HostileResponse.Theme.allCases.map { theme in
      let lines = HostileResponse.allCases.filter { $0.settings.theme == theme }.map { response in
        let name = response.rawValue.padded(to: width)
        return "  \(name)  \(response.summary)\(settings(of: response))\n"
      }
      return "\(theme.rawValue)\n\(lines.joined())"
    }
    return """
      Usage: --fault ROUTE:response=NAME,KEY=VALUE,…, such as catalog:response=cut-in-body,every=2
      match, every, times and delay have the same meaning as for other faults. work=done executes the request before
      the hostile response; otherwise the request is not executed. The settings that a response accepts are in brackets,
      with their defaults.


      """ + sections.joined(separator: "\n")
  }

  /// The settings of one response in brackets; empty if it has none.
  private static func settings(of response: HostileResponse) -> String {
    let taken = response.settings
    var settings: [String] = []
    if let statuses = taken.statuses {
      let range = "(\(statuses.lowerBound) to \(statuses.upperBound))"
      settings.append(taken.status.map { "status=\($0) \(range)" } ?? "status \(range)")
    }
    if taken.takesLocation { settings.append("location") }
    if let size = taken.size { settings.append("size=\(size)") }
    if let interval = taken.interval { settings.append("interval=\(interval)") }
    if taken.takesCut { settings.append("cut=close or reset") }
    return settings.isEmpty ? "" : " [\(settings.joined(separator: "; "))]"
  }
}

extension String {
  fileprivate func padded(to width: Int) -> String {
    self + String(repeating: " ", count: max(0, width - count))
  }
}
