extension ManifestDecoder {
  /// F0319. Reports the header field `Accept-Encoding` in requests of steps with `decompress`, because ferry
  /// sets this field for them.
  mutating func checkDecompress(_ manifest: Manifest) {
    var reported: Set<SourceLocation> = []
    for request in writtenRequests(manifest) where request.template.decompress {
      for header in request.node["headers"]?.members ?? []
      where header.key.value.lowercased() == "accept-encoding"
        && reported.insert(header.key.location).inserted
      {
        report(
          .ownHeader, at: header.key.location,
          "\(header.key.value.quoted) is set by ferry in a step with 'decompress'",
          help: "remove it, or remove 'decompress' to receive the response as the server sends it")
      }
    }
  }
}
