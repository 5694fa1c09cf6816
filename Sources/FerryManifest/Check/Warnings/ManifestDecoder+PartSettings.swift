extension ManifestDecoder {
  /// The settings of protocols that send a file in several requests, and the protocols that use each.
  private static let partSettings: [(name: String, protocols: [Upload.Transfer.`Protocol`])] = [
    ("chunk_size", [.contentRange, .tus, .resumable]), ("offset_query", [.contentRange]),
    ("creation", [.tus]), ("metadata", [.tus]), ("checksum", [.tus, .s3Multipart]),
    ("part_size", [.s3Multipart]),
    ("threshold", [.tus, .s3Multipart]),
    ("parallel_parts", [.tus, .s3Multipart]), ("interop_version", [.resumable]),
  ]

  /// F0713. Settings for parts in uploads that do not send parts, and sizes that the known servers reject.
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
      if upload.transfer.protocol == .tus, upload.allocate != nil, let key = transfer["metadata"] {
        warn(
          .partSettings, at: key.location,
          "this has no effect, because the request of 'allocate' creates the upload",
          help: "remove it, or send the metadata with the request of 'allocate'", use: key.use ?? node.use)
      }
      for name in ["creation", "parallel_parts"] {
        guard upload.transfer.protocol == .tus, upload.allocate != nil, let key = transfer[name] else {
          continue
        }
        warn(
          .partSettings, at: key.location,
          "this has no effect, because the request of 'allocate' creates the upload",
          help: "remove it, or remove 'allocate', so that the transfer creates the upload",
          use: key.use ?? node.use)
      }
      warnOfConcatenation(upload, transfer, node)
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

  /// Settings that have no effect with, or without, partial uploads of tus.
  private mutating func warnOfConcatenation(_ upload: Upload, _ transfer: YAMLNode, _ node: YAMLNode) {
    guard upload.transfer.protocol == .tus else { return }
    let concatenates = upload.allocate == nil && upload.transfer.parallelParts ?? 1 > 1
    if !concatenates, let key = transfer["threshold"] {
      warn(
        .partSettings, at: key.location, "this has no effect without 'parallel_parts'",
        help: "remove it, or add 'parallel_parts'", use: key.use ?? node.use)
    }
    if concatenates, upload.transfer.creation == .withUpload, let key = transfer["creation"] {
      warn(
        .partSettings, at: key.location,
        "this has no effect, because 'parallel_parts' creates the partial uploads without bytes",
        help: "remove it, or remove 'parallel_parts'", use: key.use ?? node.use)
    }
  }
}
