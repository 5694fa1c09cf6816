extension ManifestDecoder {
  /// F0709. Warns of `compare: content` in uploads that send files only once or in every round, because the
  /// files are then never compared.
  mutating func warnOfIdleComparisons(_ manifest: Manifest) {
    for upload in manifest.uploads where upload.compare == .content && upload.deliver != .whenChanged {
      guard let node = declared.declaration(upload.name.value, in: .uploads)?.node,
        let compare = node["compare"]
      else { continue }
      warn(
        .idleComparison, at: compare.location,
        "this has no effect: with 'deliver: \(upload.deliver.rawValue)', files are not compared with earlier deliveries",
        help: "remove it, or write 'deliver: when_changed'",
        notes: node["deliver"].map { [.init("'deliver' is set here", at: $0.location)] }
          ?? [],
        use: compare.use ?? node.use)
    }
  }
}
