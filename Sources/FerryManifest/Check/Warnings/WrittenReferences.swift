/// What references of the manifest stand for, as far as they were met.
struct WrittenReferences: Sendable {
  /// Of `${vars.NAME}`, by the name.
  var variables: [String: WrittenText] = [:]
  /// Of `${each.…}` in `instance`, by what stands in the braces.
  fileprivate var each: [String: WrittenText] = [:]
  /// The node whose texts are looked at, where a `for_each` made it.
  var instance: String? {
    didSet { if instance != oldValue { each = [:] } }
  }
  /// The values of each `for_each` that was met, by the node that has it and the instance.
  fileprivate var written: [String: [String: WrittenEach]] = [:]
}

/// Where an instance of a `for_each` is written.
private struct WrittenEach: Sendable {
  /// In a mapping.
  var key: Located<String>?
  /// By what `${…}` names them with.
  var values: [String: YAMLNode]
}

extension ManifestDecoder {
  /// Nil for what is not of the instance that is looked at, or whose name comes from outside.
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
      declared.declaration(instance, in: .uploads) ?? declared.declaration(instance, in: .fetches)
    guard let list = declaration?.node["for_each"] else { return [:] }
    var written: [String: WrittenEach] = [:]
    for element in list.elements ?? [] {
      // An element with something from outside is no instance's name here, and so is not found.
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
