import FerryManifest
import FerryPlan
import FerryTransfer

/// The settings of AWS signatures that come from the environment or a profile. They are stored together with
/// the manifest's secrets; a dot in the name prevents conflicts, because the name of a secret cannot contain
/// one.
enum AWSValue: String, CaseIterable {
  case accessKey = "access_key"
  case secretKey = "secret_key"
  case sessionToken = "session_token"
  case region

  /// The key under which the value is stored.
  ///
  /// - Parameter profile: the profile in the manifest; `nil` for the profile of the environment.
  func name(profile: String?) -> String { "aws.\(rawValue).\(profile ?? "")" }

  /// The values that must be masked: all except regions.
  static func confidential(_ values: [String: SensitiveValue]) -> [SensitiveValue] {
    let prefix = region.name(profile: nil)
    return values.compactMap { $0.hasPrefix(prefix) ? nil : $1 }
  }
}

extension RequestBuilder {
  /// The signature of a request, without the time and the digest of a file.
  func signing(_ bindings: Bindings) throws(TransportFailure) -> AWSSigning? {
    guard let sign else { return nil }
    func value(_ setting: AWSValue, _ template: Template?) throws(TransportFailure) -> String? {
      guard let template else {
        guard sign.usesProfile else { return nil }
        return bindings.secrets[setting.name(profile: sign.profile)]?.revealed
      }
      var sensitive: [String] = []
      let text = String(decoding: try Self.text(template, bindings, sensitive: &sensitive), as: UTF8.self)
      guard AWSValue.isValid(text) else {
        throw Self.failure(
          "'\(setting.rawValue)' of 'sign' is empty or contains a character that is not allowed")
      }
      return text
    }
    guard let accessKey = try value(.accessKey, sign.accessKey),
      let secretKey = try value(.secretKey, sign.secretKey),
      let region = sign.region ?? bindings.secrets[AWSValue.region.name(profile: sign.profile)]?.revealed
    else { throw Self.failure("the credentials or the region of 'sign' are not known") }
    let token = try value(.sessionToken, sign.sessionToken)
    return AWSSigning(
      credentials: AWSCredentials(accessKey: accessKey, secretKey: secretKey, sessionToken: token),
      scope: AWSScope(region: region, service: sign.service),
      payload: sign.payload == .unsigned ? .unsigned : .signed(file: nil),
      date: Instant(nanoseconds: 0), owner: template.sign == nil ? .session : .request)
  }
}

extension AWSValue {
  /// Whether a string can be a part of a header field and of a credential: printable ASCII without spaces.
  static func isValid(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.allSatisfy { (0x21..<0x7F).contains($0) }
  }
}
