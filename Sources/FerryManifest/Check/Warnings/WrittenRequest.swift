/// A request of the manifest, with its location, session and token.
struct WrittenRequest: Sendable {
  var template: RequestTemplate
  /// The request's mapping.
  var node: YAMLNode
  /// The request's URL.
  var url: YAMLNode?
  /// The step's `form`, which is written next to the request.
  var form: YAMLNode?
  /// The step's `sign`, which is written next to the request.
  var sign: YAMLNode?
  /// The `auth` of the step, next to the request.
  var auth: YAMLNode?
  /// The location of the alias that inserted the request, if there is one.
  var use: SourceLocation?
  /// The session that sends the request.
  var session: String
  /// The token that the request carries.
  var token: String?
  /// The name of the request's node, if a `for_each` created the node.
  var instance: String?
}

extension ManifestDecoder {
  /// All requests in the manifest's order, section by section.
  func writtenRequests(_ manifest: Manifest) -> [WrittenRequest] {
    var requests: [WrittenRequest] = []
    for token in manifest.tokens {
      add(token.request, of: token.name, in: .tokens, [], session: token.session, to: &requests)
    }
    for upload in manifest.uploads {
      func step(
        _ keys: [String], _ request: RequestTemplate, _ token: Upload.StepToken, _ session: Located<String>?
      ) {
        let token: Located<String>? =
          switch token {
          case .inherited: upload.token
          case .none: nil
          }
        add(
          request, of: upload.name, in: .uploads, keys, session: session ?? upload.session, token: token,
          to: &requests)
      }
      if let allocate = upload.allocate {
        step(["allocate"], allocate.request, allocate.token, allocate.session)
      }
      step(["transfer"], upload.transfer.request, upload.transfer.token, nil)
      if let commit = upload.commit {
        step(["commit"], commit.request, commit.token, commit.session)
        if let probe = commit.probe {
          step(["commit", "probe"], probe.request, commit.token, commit.session)
        }
      }
      if let abandon = upload.abandon { step(["abandon"], abandon.request, abandon.token, abandon.session) }
    }
    for download in manifest.downloads { add(download, to: &requests) }
    for fetch in manifest.fetches {
      add(
        fetch.request, of: fetch.name, in: .fetches, [], session: fetch.session, token: fetch.token,
        to: &requests)
    }
    for request in manifest.requests {
      add(
        request.request, of: request.name, in: .requests, [], session: request.session, token: request.token,
        to: &requests)
    }
    for ended in manifest.onEnd.map(\.request) {
      add(
        ended.request, of: ended.name, in: .onEnd, [], session: ended.session, token: ended.token,
        to: &requests)
    }
    return requests
  }

  private func add(_ download: Download, to requests: inout [WrittenRequest]) {
    let name = download.name.value
    guard let node = declared.declaration(name, in: .downloads)?.node, let items = node["items"] else {
      return
    }
    var request = WrittenRequest(
      template: download.itemRequest, node: node["request"] ?? items, sign: node["sign"], auth: node["auth"],
      use: items.use ?? node.use, session: download.session.value, token: download.token?.value,
      instance: EachInstance.base(of: name) == name ? nil : name)
    request.url = items["url"]
    requests.append(request)
  }

  private func add(
    _ template: RequestTemplate, of name: Located<String>, in space: DeclaredNames.Space, _ keys: [String],
    session: Located<String>, token: Located<String>? = nil, to requests: inout [WrittenRequest]
  ) {
    guard var node = declared.declaration(name.value, in: space)?.node else { return }
    var use = node.use
    var (form, sign, auth): (YAMLNode?, YAMLNode?, YAMLNode?)
    for key in keys + ["request"] {
      guard let value = node[key] ?? (space == .tokens ? node["oauth2"] : nil) else { return }
      (form, sign, auth) = (node["form"], node["sign"], node["auth"])
      node = value
      use = node.use ?? use
    }
    requests.append(
      WrittenRequest(
        template: template, node: node, url: node["url"] ?? node["token_url"], form: form, sign: sign,
        auth: auth, use: use, session: session.value,
        token: token?.value,
        instance: EachInstance.base(of: name.value) == name.value ? nil : name.value))
  }
}
