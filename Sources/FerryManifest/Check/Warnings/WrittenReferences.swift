/// The strings that the references resolved so far stand for.
struct WrittenReferences: Sendable {
  /// The string for each `${vars.NAME}`, by name.
  var variables: [String: WrittenText] = [:]
  /// The string for each `${each.…}` in `instance`, by the expression in the braces.
  fileprivate var each: [String: WrittenText] = [:]
  /// The node whose texts are being examined, if a `for_each` created it.
  var instance: String? {
    didSet { if instance != oldValue { each = [:] } }
  }
  /// The values of each `for_each` seen so far, by node and instance.
  fileprivate var written: [String: [String: WrittenEach]] = [:]
}

/// The location and values of one `for_each` instance in the manifest.
private struct WrittenEach: Sendable {
  /// The key, if it is written in a mapping.
  var key: Located<String>?
  /// The values, by their expression in `${…}`.
  var values: [String: YAMLNode]
}

extension ManifestDecoder {
  /// The text of an expression in `${each.…}`. Nil if the expression does not belong to the current instance,
  /// or if the instance's name comes from outside.
  func writtenText(ofEach expression: String, _ known: inout WrittenReferences) -> WrittenText? {
    guard let instance = known.instance else { return nil }
    if let text = known.each[expression] { return text }
    let base = EachInstance.base(of: instance)
    if known.written[base] == nil { known.written[base] = writtenEach(of: instance, base, &known) }
    guard let each = known.written[base]?[instance] else { return nil }
    let text: WrittenText
    if expression == "each.key", let key = each.key {
      var written = WrittenText()
      written.append(key.value.unicodeScalars, at: key.location)
      text = written
    } else if let node = each.values[expression] {
      text = writtenText(node, &known)
    } else {
      return nil
    }
    known.each[expression] = text
    return text
  }

  private func writtenEach(
    of instance: String, _ base: String, _ known: inout WrittenReferences
  ) -> [String: WrittenEach] {
    let declaration =
      declared.declaration(instance, in: .uploads) ?? declared.declaration(instance, in: .downloads)
      ?? declared.declaration(instance, in: .fetches)
    guard let list = declaration?.node["for_each"] else { return [:] }
    var written: [String: WrittenEach] = [:]
    for element in list.elements ?? [] {
      // If the element contains a value from outside, this name is not the name of the instance, so the
      // instance is not found.
      written["\(base)[\(writtenText(element, &known).text)]"] = WrittenEach(
        values: ["each.key": element, "each.value": element])
    }
    for member in list.members ?? [] {
      var values = ["each.value": member.value]
      for field in member.value.members ?? [] { values["each.value.\(field.key.value)"] = field.value }
      written["\(base)[\(member.key.value)]"] = WrittenEach(key: member.key, values: values)
    }
    return written
  }
}
