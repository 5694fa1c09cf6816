extension ManifestDecoder {
  /// F0705. Warns of secrets in plain text. Their values never appear in a message.
  mutating func warnOfPlainSecrets(_ manifest: Manifest) {
    var known = WrittenReferences()
    for session in declared.ordered[.sessions] ?? [] {
      warnOfPlainHeaders(session.node["headers"], use: session.node.use, &known)
      warnOfPlainSignature(session.node["sign"], use: session.node.use, &known)
      warnOfPlainValue("password", in: session.node["auth"], use: session.node.use, &known)
      warnOfPlainValue("password", in: session.node["proxy"], use: session.node.use, &known)
      warnOfPlainValue("key_password", in: session.node["tls"], use: session.node.use, &known)
    }
    for token in declared.ordered[.tokens] ?? [] {
      guard let apply = token.node["apply"], let value = apply["value"] else { continue }
      let header = apply["header"]?.scalar?.text
      if header == nil, apply["query"] ?? apply["cookie"] != nil {
        warnOfPlainValue("value", in: apply, use: token.node.use, &known)
      } else {
        warnOfPlainHeader(header ?? "Authorization", value, use: apply.use ?? token.node.use, &known)
      }
    }
    for request in writtenRequests(manifest) {
      known.instance = request.instance
      if let url = request.url { warnOfPlainURL(url, use: request.use, &known) }
      warnOfPlainHeaders(request.node["headers"], use: request.use, &known)
      warnOfPlainFields(request.node["query"], use: request.use, &known)
      warnOfPlainFields(request.node["form"], use: request.use, &known)
      warnOfPlainSignature(request.sign, use: request.use, &known)
      warnOfPlainValue("password", in: request.auth, use: request.use, &known)
      for key in ["client_secret", "refresh_token"] {
        warnOfPlainValue(key, in: request.node, use: request.use, &known)
      }
      for fields in ["fields", "fields_after"] {
        warnOfPlainFields(request.form?[fields], use: request.form?.use ?? request.use, &known)
      }
      if let json = request.node["json"] { warnOfPlainMembers(json, use: json.use ?? request.use, &known) }
    }
  }

  private mutating func warnOfPlainHeaders(
    _ headers: YAMLNode?, use: SourceLocation?, _ known: inout WrittenReferences
  ) {
    for header in headers?.members ?? [] {
      warnOfPlainHeader(header.key.value, header.value, use: headers?.use ?? use, &known)
    }
  }

  private mutating func warnOfPlainHeader(
    _ name: String, _ value: YAMLNode, use: SourceLocation?, _ known: inout WrittenReferences
  ) {
    let isCookie = name.lowercased() == "cookie"
    guard isCookie || SecretName.isSecretHeader(name) else { return }
    let text = writtenText(value, &known)
    let message = "the header \(name.quoted) contains a secret in plain text"
    guard isCookie else {
      let credentials = SecretName.credentials(text.text)
      guard SecretName.isSecretValue(credentials) else { return }
      // The authentication scheme before the credentials may be written elsewhere.
      let range = text.letters.indices.suffix(credentials.unicodeScalars.count)
      warnOfPlainSecret(message, text, range, in: value, use: use)
      return
    }
    for cookie in text.cookies
    where SecretName.isLoginCookie(cookie.name) && SecretName.isSecretValue(text.text(cookie.value)) {
      warnOfPlainSecret(message, text, cookie.value, in: value, use: use)
    }
  }

  /// Warns of fields that, according to their names, contain a secret in plain text.
  ///
  /// - Parameter fields: a mapping from names to values, or a list of mappings with `name` and `value`.
  private mutating func warnOfPlainFields(
    _ fields: YAMLNode?, use: SourceLocation?, _ known: inout WrittenReferences
  ) {
    let named = (fields?.members ?? []).map { ($0.key.value, $0.value) }
    let listed = (fields?.elements ?? []).compactMap { element in
      element["value"].map { (element["name"]?.scalar?.text ?? "", $0) }
    }
    for (name, value) in named + listed where SecretName.isSecret(name) {
      let text = writtenText(value, &known)
      guard SecretName.isSecretValue(text.text) else { continue }
      warnOfPlainSecret(
        "the field \(name.quoted) contains a secret in plain text", text, text.letters.indices, in: value,
        use: use)
    }
  }

  private mutating func warnOfPlainSignature(
    _ sign: YAMLNode?, use: SourceLocation?, _ known: inout WrittenReferences
  ) {
    for key in ["secret_key", "session_token"] {
      warnOfPlainValue(key, in: sign?["aws_v4"], use: sign?.use ?? use, &known)
    }
  }

  /// Warns if the value of a key that always holds a secret is written in plain text.
  private mutating func warnOfPlainValue(
    _ key: String, in object: YAMLNode?, use: SourceLocation?, _ known: inout WrittenReferences
  ) {
    guard let value = object?[key] else { return }
    let text = writtenText(value, &known)
    guard SecretName.isSecretValue(text.text) else { return }
    warnOfPlainSecret(
      "'\(key)' is a secret in plain text", text, text.letters.indices, in: value, use: object?.use ?? use)
  }

  private mutating func warnOfPlainMembers(
    _ json: YAMLNode, use: SourceLocation?, _ known: inout WrittenReferences
  ) {
    for element in json.elements ?? [] { warnOfPlainMembers(element, use: element.use ?? use, &known) }
    for member in json.members ?? [] {
      guard let scalar = member.value.scalar else {
        warnOfPlainMembers(member.value, use: member.value.use ?? use, &known)
        continue
      }
      guard SecretName.isSecret(member.key.value) else { continue }
      switch scalar.value {
      case .string: break
      // An integer may be a password of digits, but a small number is probably a count.
      case .integer where scalar.text.utf8.count >= 4: break
      case .null, .bool, .integer, .hugeInteger, .float: continue
      }
      let text = writtenText(member.value, &known)
      guard SecretName.isSecretValue(text.text) else { continue }
      warnOfPlainSecret(
        "the member \(member.key.value.quoted) contains a secret in plain text", text, text.letters.indices,
        in: member.value, use: use)
    }
  }

  private mutating func warnOfPlainURL(
    _ url: YAMLNode, use: SourceLocation?, _ known: inout WrittenReferences
  ) {
    let text = writtenText(url, &known)
    if let password = text.passwordOfURL {
      warnOfPlainSecret("the URL contains a password in plain text", text, password, in: url, use: use)
    }
    for parameter in text.parametersOfURL where SecretName.isSecret(parameter.name) {
      guard SecretName.isSecretValue(text.text(parameter.value)) else { continue }
      warnOfPlainSecret(
        "the parameter \(parameter.name.quoted) contains a secret in plain text", text, parameter.value,
        in: url,
        use: use)
    }
  }

  /// Warns of a secret if all of its characters are written in the manifest.
  ///
  /// - Parameters:
  ///   - range: the characters that are secret.
  ///   - value: the value in which the characters are sent. The characters may be written in another value.
  private mutating func warnOfPlainSecret(
    _ message: String, _ text: WrittenText, _ range: Range<Int>, in value: YAMLNode, use: SourceLocation?
  ) {
    guard text.isPlain(range) else { return }
    let places = Set(text.places[range])
    let place = places.count == 1 ? places.first ?? value.location : value.location
    warn(
      .plainSecret, at: place, message,
      help: "declare it under 'secrets:', with the environment or a file as its source, and write "
        + "${secrets.NAME}",
      notes: place == value.location ? [] : [.init("sent from here", at: value.location)],
      use: value.use ?? use)
  }
}
