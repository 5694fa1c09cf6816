import FerryManifest

/// Origins that a manifest lists, individually or by pattern.
package struct OriginSet: Hashable, Sendable {
  package var origins: Set<Origin>
  package var patterns: [OriginPattern]

  package init(_ origins: Set<Origin> = [], patterns: [OriginPattern] = []) {
    self.origins = origins
    self.patterns = patterns
  }

  package func contains(_ origin: Origin) -> Bool {
    origins.contains(origin)
      || patterns.contains { pattern in
        pattern.matches(scheme: origin.scheme, host: origin.host, port: origin.port)
      }
  }

  package mutating func formUnion(_ other: OriginSet) {
    origins.formUnion(other.origins)
    patterns += other.patterns.filter { !patterns.contains($0) }
  }
}
