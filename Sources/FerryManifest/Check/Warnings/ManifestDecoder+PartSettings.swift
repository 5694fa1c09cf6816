extension ManifestDecoder {
  /// The settings of protocols that send a file in several requests, and the protocols that use each.
  private static let partSettings: [(name: String, protocols: [Upload.Transfer.`Protocol`])] = [
    ("chunk_size", [.contentRange, .tus, .resumable]), ("offset_query", [.contentRange]),
    ("creation", [.tus]), ("metadata", [.tus]), ("checksum", [.tus, .s3Multipart]),
    ("part_size", [.s3Multipart]),
    ("threshold", [.tus, .s3Multipart]),
    ("parallel_parts", [.tus, .s3Multipart]), ("interop_version", [.resumable]),
  ]

  /// F0713. Warns of settings for parts in uploads that do not send parts, and of sizes that the known
  /// servers reject.
  mutating func warnOfPartSettings(_ manifest: Manifest) {
    for upload in manifest.uploads {
      guard let node = declared.declaration(upload.name.value, in: .uploads)?.node,
        let transfer = node["transfer"]
      else { continue }
      for (name, protocols) in Self.partSettings where !protocols.contains(upload.transfer.protocol) {
        guard let key = transfer[name] else { continue }
        let names = protocols.map { "'protocol: \($0.rawValue)'" }.joined(separator: " or ")
        warn(
          .partSettings, at: key.location, "this has no effect without \(names)",
          help: "remove it, or add \(names)", use: key.use ?? node.use)
      }
      if upload.transfer.protocol == .s3Multipart, let key = transfer["part_size"],
        let size = upload.transfer.partSize, !(5 << 20...5 << 30).contains(size)
      {
        warn(
          .partSettings, at: key.location,
          "servers may reject parts of this size: Amazon S3 requires 5 MiB to 5 GiB",
          help: "write a size such as 8MiB", use: key.use ?? node.use)
      }
      if upload.transfer.protocol == .tus { warnOfTusSettings(upload, transfer, node) }
      guard upload.transfer.protocol == .contentRange, upload.transfer.request.method == "PUT",
        let key = transfer["chunk_size"],
        let size = upload.transfer.chunkSize, [256, 320].allSatisfy({ size % ($0 << 10) != 0 })
      else { continue }
      warn(
        .partSettings, at: key.location,
        "servers may reject parts of this size: Google requires multiples of 256 KiB, and Microsoft multiples of 320 KiB",
        help: "write a multiple of both, such as 10MiB", use: key.use ?? node.use)
    }
  }

  /// Warns of settings of tus that have no effect together with the upload's other keys.
  private mutating func warnOfTusSettings(_ upload: Upload, _ transfer: YAMLNode, _ node: YAMLNode) {
    guard upload.allocate == nil else {
      for name in ["metadata", "creation", "parallel_parts", "threshold"] {
        warnOfIdle(
          transfer[name], node, "because the request of 'allocate' creates the upload",
          help: name == "metadata"
            ? "send the metadata with the request of 'allocate'"
            : "remove 'allocate', so that the transfer creates the upload")
      }
      return
    }
    if !upload.concatenatesParts {
      warnOfIdle(transfer["threshold"], node, "because the file is one part", help: "add 'parallel_parts'")
    } else if upload.transfer.creation == .withUpload {
      warnOfIdle(
        transfer["creation"], node, "because 'parallel_parts' creates the partial uploads without bytes",
        help: "remove 'parallel_parts'")
    }
  }

  private mutating func warnOfIdle(_ key: YAMLNode?, _ node: YAMLNode, _ reason: String, help: String) {
    guard let key else { return }
    warn(
      .partSettings, at: key.location, "this has no effect, \(reason)", help: "remove it, or \(help)",
      use: key.use ?? node.use)
  }
}
