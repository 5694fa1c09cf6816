import FerryDigest
import FerryManifest
import FerryPlan
import FerryTransfer

extension RequestBuilder {
  /// The checksum of the file in which the response is stored; `nil` for none. Throws `request` if a value is not a digest.
  func checksum(_ bindings: Bindings) throws(TransportFailure) -> TransferRequest.Checksum? {
    guard let checksum = template.checksum else { return nil }
    if let field = checksum.header { return .field(field.rawValue) }
    let digests: [(Template?, DigestAlgorithm)] = [
      (checksum.sha256, .sha256), (checksum.sha512, .sha512), (checksum.sha1, .sha1), (checksum.md5, .md5),
    ]
    for case (let template?, let algorithm) in digests {
      // An element of a list may have no digest.
      if template.isAbsent(in: bindings) { return nil }
      var sensitive: [String] = []
      let digits = try Self.text(template, bindings, sensitive: &sensitive)
      let values = digits.compactMap { Hexadecimal.value($0) }
      guard values.count == digits.count, digits.count == algorithm.size * 2 else {
        throw Self.failure(
          "the value of 'checksum' does not consist of \(algorithm.size * 2) hexadecimal digits")
      }
      return .digest(
        algorithm, stride(from: 0, to: values.count, by: 2).map { values[$0] << 4 | values[$0 + 1] })
    }
    return nil
  }
}

extension Template {
  /// Whether the template is a single reference to a field that the list's element does not have.
  fileprivate func isAbsent(in bindings: Bindings) -> Bool {
    guard segments.count == 1, case .reference(let reference, _) = segments[0], case .item = reference else {
      return false
    }
    return bindings.value(of: reference) == nil
  }
}
