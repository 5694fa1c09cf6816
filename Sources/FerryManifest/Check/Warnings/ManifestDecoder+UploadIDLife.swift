extension ManifestDecoder {
  /// F0702. Warns if no lifetime of upload IDs is specified for discretionary transfers, which may wait for
  /// hours between the allocation of an ID and the first byte.
  mutating func warnOfUploadIDsWithoutLife(_ manifest: Manifest) {
    let sessions = Dictionary(
      manifest.sessions.map { ($0.name.value, $0) }, uniquingKeysWith: { first, _ in first })
    for upload in manifest.uploads {
      guard let allocate = upload.allocate, allocate.validFor == nil,
        // These captures determine when an ID expires.
        !allocate.capture.contains(where: { ["expires_in", "expires_at"].contains($0.name) }),
        let session = sessions[upload.session.value], session.effectiveDiscretion != .no,
        let node = declared.declaration(upload.name.value, in: .uploads)?.node,
        let key = node.members?.first(where: { $0.key.value == "allocate" })?.key
      else { continue }
      let written = declared.declaration(session.name.value, in: .sessions)?.node["discretionary"]
      let note =
        if written != nil {
          "session \(session.name.value.quoted) is discretionary"
        } else {
          "session \(session.name.value.quoted) is discretionary in the background, "
            + "because of the profile \(manifest.profile.rawValue)"
        }
      warn(
        .uploadIDWithoutLife, at: key.location, "an upload ID may expire while its transfer is waiting",
        help: "specify how long the ID is valid, such as 'valid_for: 1h', or capture 'expires_in'",
        notes: [.init(note, at: written?.location ?? session.name.location)], use: node.use)
    }
  }
}
