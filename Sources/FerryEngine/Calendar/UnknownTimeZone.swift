import FerryPlan

/// A time zone that the machine's database does not contain.
package struct UnknownTimeZone {
  var name: String
  /// What names the time zone, such as `max_bandwidth`; `nil` if the place of the message shows it.
  var key: String?

  package init(_ name: String, of key: String? = nil) {
    self.name = name
    self.key = key
  }

  var message: String {
    "the time zone '\(DisplayPath.shown(name))' \(key.map { "of '\($0)' " } ?? "")is not installed on this machine"
  }
  var help: String {
    "write a name of the IANA database, such as Europe/Berlin, or install the package tzdata"
  }

  package var error: UsageError { UsageError(text) }
  /// The message and its remedy, as in a `UsageError`.
  package var text: String { "\(message)\nhelp: \(help)" }
}
