import FerryDigest

/// Identifies the document that a URL returns, by a digest, because a URL may contain a secret.
enum PartSource {
  /// - Parameter url: the URL of a hop of the request.
  ///
  /// Servers that redirect to a presigned URL sign each one separately, so the query of the target of a redirect is
  /// ignored. The validator still has to match.
  static func digest(of url: String, _ request: TransferRequest) -> String {
    let target = url == request.url ? url : String(url.prefix { $0 != "?" })
    let accepted = request.headers.filter { $0.name.lowercased().hasPrefix("accept") }
      .map { "\($0.name.lowercased()): \($0.value)\n" }.sorted().joined()
    return Hexadecimal.text(SHA256.hash("\(request.url)\n\(target)\n\(accepted)".utf8).prefix(16))
  }
}
