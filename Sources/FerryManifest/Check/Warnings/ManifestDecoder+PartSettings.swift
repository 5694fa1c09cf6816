extension ManifestDecoder {
  /// F0713. Settings for parts in uploads that do not send parts, and sizes that the known servers reject.
  mutating func warnOfPartSettings(_ manifest: Manifest) {
    for upload in manifest.uploads {
      guard let node = declared.declaration(upload.name.value, in: .uploads)?.node,
        let transfer = node["transfer"]
      else { continue }
      for name in ["chunk_size", "offset_query"] where upload.transfer.protocol != .contentRange {
        guard let key = transfer[name] else { continue }
        warn(
          .partSettings, at: key.location,
          "this has no effect: only 'protocol: content_range' sends a file in parts",
          help: "remove it, or add 'protocol: content_range'", use: key.use ?? node.use)
      }
      guard upload.transfer.protocol == .contentRange, upload.transfer.request.method == "PUT",
        let key = transfer["chunk_size"],
        [256, 320].allSatisfy({ upload.transfer.chunkSize % ($0 << 10) != 0 })
      else { continue }
      warn(
        .partSettings, at: key.location,
        "servers may reject parts of this size: Google requires multiples of 256 KiB, and Microsoft multiples of 320 KiB",
        help: "write a multiple of both, such as 10MiB", use: key.use ?? node.use)
    }
  }
}
