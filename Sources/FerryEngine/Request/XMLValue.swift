/// An element of a parsed XML document, without its attributes.
///
/// A document has at most `XMLReader.depthLimit` levels, so recursive code is safe.
struct XMLValue: Hashable, Sendable {
  /// The name without its namespace prefix.
  let name: String
  /// The character data without surrounding XML whitespace, with references and CDATA sections resolved.
  /// Empty if the element has no content; `nil` if the element contains other elements.
  let text: String?
  /// The elements directly inside this one, in document order.
  let children: [XMLValue]

  /// The first element at a path in document order, or `nil`.
  ///
  /// - Parameter path: the names of the elements separated by `/`, beginning with this element, such as
  ///   `InitiateMultipartUploadResult/UploadId`. The name `*` matches any element; paths in a manifest cannot
  ///   contain it.
  func first(at path: String) -> XMLValue? {
    first(at: Self.names(of: path)[...])
  }

  /// All elements at a path in document order; see `first(at:)`.
  func all(at path: String) -> [XMLValue] {
    var found: [XMLValue] = []
    collect(Self.names(of: path)[...], into: &found)
    return found
  }

  /// The text of the first child with a name; `nil` if there is none, or if it contains other elements.
  func text(of child: String) -> String? {
    children.first { $0.isNamed(child.utf8) }?.text
  }

  private static func names(of path: String) -> [Substring.UTF8View] {
    path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
      .map { Substring($0).utf8 }
  }

  /// Compares bytes: String's == treats differently composed characters as equal; XML does not.
  private func isNamed(_ name: some Sequence<UInt8>) -> Bool { self.name.utf8.elementsEqual(name) }

  private static func isWildcard(_ name: Substring.UTF8View) -> Bool { name.elementsEqual("*".utf8) }

  private func first(at names: ArraySlice<Substring.UTF8View>) -> XMLValue? {
    guard let name = names.first, isNamed(name) || Self.isWildcard(name) else { return nil }
    let rest = names.dropFirst()
    guard !rest.isEmpty else { return self }
    for child in children {
      if let found = child.first(at: rest) { return found }
    }
    return nil
  }

  private func collect(_ names: ArraySlice<Substring.UTF8View>, into found: inout [XMLValue]) {
    guard let name = names.first, isNamed(name) || Self.isWildcard(name) else { return }
    let rest = names.dropFirst()
    guard !rest.isEmpty else { return found.append(self) }
    for child in children { child.collect(rest, into: &found) }
  }
}
