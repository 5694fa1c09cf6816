/// The network and power of a machine over time: the input of `ferry plan --simulate --conditions`.
package struct ConditionTimeline: Hashable, Codable, Sendable {
  package enum Network: String, CaseIterable, Codable, Sendable {
    case wifi
    case wired
    case cellular
    case none
  }

  package enum Power: String, CaseIterable, Codable, Sendable {
    case external
    case battery
  }

  package struct Entry: Hashable, Codable, Sendable {
    /// The time at which the entry takes effect: a time of day such as `08:00`, every day, or a date and time
    /// such as `2026-12-24T18:00`, once.
    package var from: String
    /// `nil` leaves the previous value unchanged.
    package var network: Network?
    package var isExpensive: Bool?
    package var power: Power?
  }

  package var entries: [Entry] = []
  /// A name in the IANA time zone database; `nil` for the machine's own time zone.
  package var timeZone: String?

  /// Reads a timeline, or reports all of its mistakes.
  ///
  /// - Parameter file: the path as the user gave it, for messages.
  package static func read(
    _ bytes: [UInt8], file: String
  ) -> (timeline: ConditionTimeline?, source: SourceText, diagnostics: [Diagnostic]) {
    let source = SourceText(bytes, file: file)
    let document = YAMLDocument(source)
    guard let root = document.root else { return (nil, source, document.diagnostics) }
    var decoder = ManifestDecoder(
      source, profile: .server, variables: Variables(environment: [:], given: GivenVariables([:], files: [])))
    let timeline = shape.decode(root, &decoder)
    let diagnostics = document.diagnostics + decoder.diagnostics
    let isSound = diagnostics.allSatisfy { $0.severity != .error }
    return (isSound ? timeline : nil, source, diagnostics)
  }
}
