import FerryDigest
import FerryManifest
import FerryPlan
import FerryTransfer

extension RequestBuilder {
  /// The URL of a request, which is built only if it depends on values or on a base.
  func url(
    _ bindings: Bindings, base: String?, _ sensitive: inout SensitiveParts
  ) throws(TransportFailure) -> String {
    if base == nil, let fixedURL { return fixedURL }
    return try Self.url(template, bindings, base: base, &sensitive)
  }

  /// Builds the URL. Literal text is used unchanged, and values are encoded for the part of the URL in which
  /// they occur. A value that was percent-encoded by a filter is not encoded again.
  static func url(
    _ template: RequestTemplate, _ bindings: Bindings, base: String?, _ sensitive: inout SensitiveParts
  ) throws(TransportFailure) -> String {
    var url: [UInt8] = []
    /// The positions of values in the path, with their references; `nil` for values from the environment.
    var encoded: [(reference: Reference?, range: Range<Int>)] = []
    for segment in template.url.segments {
      let value: [UInt8]
      var known: (reference: Reference, filters: [ReferenceFilter])?
      switch segment {
      case .literal(let text):
        url += text.utf8
        continue
      case .value(let text): value = Array(text.utf8)
      case .reference(let reference, let filters):
        value =
          if url.isEmpty {
            try Self.value(of: reference, filters, bindings, sensitive: &sensitive.urlBeginning).bytes
          } else {
            try Self.value(of: reference, filters, bindings, sensitive: &sensitive.url).bytes
          }
        known = (reference, filters)
      }
      var name: String {
        known.map { $0.reference.description(with: $0.filters) } ?? "a value of the environment"
      }
      guard !url.isEmpty else {
        // At the beginning, the value is used as a URL. An empty value would mean the base URL itself.
        guard !value.isEmpty else { throw Self.failure("\(name) is empty at the beginning of a URL") }
        url = value
        continue
      }
      let start = url.count
      let isEncoded = known?.filters.arePercentEncoding == true
      let part = URLPart.end(of: url)
      switch part {
      case .authority:
        guard value.allSatisfy(URLPart.isHostLetter) else {
          throw Self.failure("\(name) is not allowed in a URL's host")
        }
        url += value
      case .path where isEncoded, .query where isEncoded, .fragment where isEncoded: url += value
      case .path:
        // A file's path keeps its slashes, even after the filter `lower`.
        let isPath = known?.reference == .file(.path) && known?.filters.allSatisfy { $0 == .lower } == true
        PercentEncoding.append(value, for: isPath ? .path : .segment, to: &url)
      case .query: PercentEncoding.append(value, for: .query, to: &url)
      case .fragment: PercentEncoding.append(value, for: .fragment, to: &url)
      }
      if part == .path { encoded.append((known?.reference, start..<url.count)) }
    }
    for (reference, range) in encoded {
      if URLPart.hasDotSegment(url, touching: range) {
        throw Self.failure("a value would create a '.' or '..' segment in the URL's path")
      }
      // If the segment remained empty, a request to delete a single upload could delete all of `/uploads/`.
      if let reference, URLPart.isEmptySegment(url, range) {
        throw Self.failure("\(reference) is empty, which would leave an empty segment in the URL's path")
      }
    }
    try addQuery(of: template, to: &url, bindings, &sensitive)
    return try Self.absolute(url, base: base)
  }

  /// Adds the parameters of `query` before the URL's fragment.
  private static func addQuery(
    of template: RequestTemplate, to url: inout [UInt8], _ bindings: Bindings,
    _ sensitive: inout SensitiveParts
  ) throws(TransportFailure) {
    guard !template.query.isEmpty else { return }
    let end = url.firstIndex(of: UInt8(ascii: "#")) ?? url.count
    let fragment = url[end...]
    var base = Array(url[..<end])
    for parameter in template.query {
      let last = base.last
      if !base.contains(UInt8(ascii: "?")) {
        base.append(UInt8(ascii: "?"))
      } else if last != UInt8(ascii: "?"), last != UInt8(ascii: "&") {
        base.append(UInt8(ascii: "&"))
      }
      PercentEncoding.append(Array(parameter.name.utf8), for: .query, to: &base)
      base.append(UInt8(ascii: "="))
      let value = try Self.text(parameter.value, bindings, sensitive: &sensitive.url)
      if parameter.value.isPercentEncoded {
        base += value
      } else {
        PercentEncoding.append(value, for: .query, to: &base)
      }
    }
    url = base + fragment
  }

  private static func absolute(_ url: [UInt8], base: String?) throws(TransportFailure) -> String {
    guard !url.contains(where: { $0 <= 0x20 || $0 == 0x7F }) else {
      throw failure("the URL contains a space or control character")
    }
    guard var text = String(validating: url, as: UTF8.self) else { throw failure("the URL is not UTF-8") }
    if let base { text = URLReference(text).resolved(against: URLReference(base)).description }
    switch URLPart.authority(of: text) {
    case nil: throw failure("the URL does not begin with http:// or https://")
    case "": throw failure("the URL has no host")
    default: return text
    }
  }
}

extension Template {
  /// Whether the text is one reference that its filters have percent-encoded.
  var isPercentEncoded: Bool {
    guard segments.count == 1, case .reference(_, let filters) = segments[0] else { return false }
    return filters.arePercentEncoding
  }
}
