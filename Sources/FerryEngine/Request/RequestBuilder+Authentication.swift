import FerryManifest
import FerryPlan
import FerryTransfer

extension RequestBuilder {
  /// The credentials for the challenges to a request; `nil` for none.
  ///
  /// - Parameter url: the request's URL, whose host selects an entry of a netrc file.
  func authentication(_ bindings: Bindings, url: String) throws(TransportFailure) -> HTTPAuthentication? {
    guard let (credentials, owner) = auth else { return nil }
    var (user, password) = ("", "")
    if let path = credentials.netrc {
      // The host of the request's URL selects the entry. The credentials of the entry are sent only to that host.
      guard let host = Origin(url: url)?.host, let entry = netrcs[path]?.entry(for: host) else { return nil }
      (user, password) = (entry.user ?? "", entry.password?.revealed ?? "")
    } else {
      user = try text(credentials.user, bindings)
      password = try text(credentials.password, bindings)
    }
    let isBasic = credentials.scheme == .basic || credentials.scheme == .any
    if isBasic, user.utf8.contains(UInt8(ascii: ":")) {
      throw Self.failure(
        "the user name of 'auth' contains a colon, which Basic authentication does not allow")
    }
    guard (user + password).utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
      throw Self.failure("the user name or password of 'auth' contains a control character")
    }
    return HTTPAuthentication(
      scheme: .init(credentials.scheme), user: user, password: password,
      isPreemptive: credentials.isPreemptive && isBasic, owner: owner,
      urlOfHost: credentials.netrc == nil ? nil : url)
  }

  /// Whether the host of the request's URL determines the credentials.
  var usesNetrc: Bool { auth?.credentials.netrc != nil }

  private func text(_ template: Template?, _ bindings: Bindings) throws(TransportFailure) -> String {
    guard let template else { return "" }
    var sensitive: [String] = []
    return String(decoding: try Self.text(template, bindings, sensitive: &sensitive), as: UTF8.self)
  }
}

extension HTTPAuthentication.Scheme {
  fileprivate init(_ scheme: HTTPCredentials.Scheme) {
    self =
      switch scheme {
      case .basic: .basic
      case .digest: .digest
      case .ntlm: .ntlm
      case .negotiate: .negotiate
      case .any: .any
      }
  }
}
