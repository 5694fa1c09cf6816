import FerryManifest
import Foundation
import Testing

@Suite struct `The profiles` {
  /// The rows of the table in docs/urlsession.md: the values for each profile, by its name.
  private static func documented() throws -> [String: [String: String]] {
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let page = try String(contentsOf: root.appending(path: "docs/urlsession.md"), encoding: .utf8)
    let section = try #require(page.range(of: "\n## Profiles\n")).upperBound
    let lines = page[section...].split(separator: "\n").filter { $0.hasPrefix("| ") }
      .map { $0.split(separator: " | ").map { $0.trimmingCharacters(in: ["|", " "]) } }
    let columns = try #require(lines.first).map { $0.replacing("`", with: "") }
    var rows: [String: [String: String]] = [:]
    for line in lines.dropFirst() {
      for (column, cell) in zip(columns, line).dropFirst().dropLast() {
        rows[line[0], default: [:]][column] = cell.replacing("`", with: "")
      }
    }
    return rows
  }

  private static func text(_ duration: Duration?) -> String {
    guard let duration else { return "none" }
    let seconds = duration.components.seconds
    return seconds % 3600 == 0 ? "\(seconds / 3600)h" : seconds % 60 == 0 ? "\(seconds / 60)m" : "\(seconds)s"
  }

  /// The values of a manifest that sets only the profile, by the first cell of their rows.
  private static func values(_ profile: Profile) throws -> [String: String] {
    let reading = read(
      """
      version: 1
      name: photos
      profile: \(profile.rawValue)
      sessions: { s: { kind: background } }
      budgets: { any: { limit: 1GB, per: day } }
      """)
    let manifest = try #require(reading.manifest)
    let (delay, window) = (manifest.resumeDelay, manifest.executionWindow)
    return [
      "`discretionary` of a session": manifest.sessions[0].discretionary.rawValue,
      "`binds` of a budget": manifest.budgets.any?.binds.rawValue ?? "",
      "`resume_delay.policy`": delay.policy.rawValue,
      "`resume_delay.factor`": "\(Int(delay.factor))",
      "`resume_delay.initial`, `max`": "\(text(delay.initial)), \(text(delay.max))",
      "`resume_delay.reset`": delay.reset.rawValue,
      "`execution_window.foreground`": text(window.foreground),
      "`execution_window.background`": text(window.background),
      "`execution_window.event`": text(window.event),
      "`execution_window.fetch`": text(window.fetch),
      "`execution_window.resume`": text(window.resume),
      "`execution_window.continuous`": text(window.continuous),
      "`force_quit`": manifest.forceQuit.rawValue,
    ]
  }

  @Test func `set the values of the table in docs`() throws {
    let documented = try Self.documented()
    for profile in Profile.allCases {
      let column = documented.compactMapValues { $0[profile.rawValue] }
      #expect(try Self.values(profile) == column, "\(profile)")
    }
    #expect(documented.values.allSatisfy { Set($0.keys) == Set(Profile.allCases.map(\.rawValue)) })
  }

  /// The values from the forum threads that the table cites, stated here independently of the table.
  @Test(arguments: [(Profile.ios7, 180), (.ios, 180), (.ios13, 30)])
  func `give an app that goes to the background the time of its iOS version`(profile: Profile, seconds: Int) {
    #expect(ExecutionWindow(profile).foreground == .seconds(seconds))
    #expect(ExecutionWindow(profile).background == .seconds(30))
  }
}
