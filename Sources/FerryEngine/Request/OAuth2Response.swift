import FerryManifest
import FerryPlan
import FerryTransfer

/// The fields of a response from a token endpoint (RFC 6749, section 5) that are not read by captures.
struct OAuth2Response {
  /// The maximum size of a response in bytes.
  static let sizeLimit = 64 << 10

  private let fields: JSONValue?

  /// The refresh token that replaces the one in the request; `nil` if the response contains none.
  var refreshToken: String? { text("/refresh_token") }

  /// The strings in the response that may be tokens, regardless of its status: those at and below members whose name
  /// contains `token`, such as `access_token`. Several members may have the same name.
  var tokens: [String] {
    var found: [String] = []
    func search(_ value: JSONValue, isToken: Bool) {
      switch value {
      case .string(let text): if isToken, !text.isEmpty { found.append(text) }
      case .array(let elements): for element in elements { search(element, isToken: isToken) }
      case .object(let members):
        for member in members {
          let name = member.name.lowercased()
          search(member.value, isToken: isToken || (name.contains("token") && name != "token_type"))
        }
      case .null, .bool, .number: break
      }
    }
    if let fields { search(fields, isToken: false) }
    return found
  }

  /// - Parameter response: a response with any status. A body that is not JSON has no fields.
  init(_ response: TransferResponse) {
    let isReadable = !response.isBodyCut && response.body.count <= Self.sizeLimit
    // The captures report other failures to read the body.
    fields = isReadable ? try? JSONParser.parse(response.body) : nil
  }

  private func text(_ pointer: String) -> String? {
    if case .string(let text)? = fields?.value(at: pointer), !text.isEmpty { text } else { nil }
  }

  /// The reported error; `nil` if the response reports none.
  ///
  /// - Parameter masked: returns a string without secrets.
  func error(_ grant: OAuth2Grant, masked: (String) -> String) -> TokenError? {
    guard let code = text("/error") else { return nil }
    let known = ErrorCode(rawValue: code)
    let description = text("/error_description").flatMap { shown($0, masked) }
    let shownCode = shown(code, masked) ?? "an error"
    return TokenError(
      text: description.map { "\(shownCode): \($0)" } ?? shownCode, isTemporary: known?.isTemporary == true,
      remedy: known?.remedy(grant))
  }

  /// The reason why the token cannot be used in `Authorization: Bearer`; `nil` if it can (RFC 6749, section 7.1).
  var typeMismatch: String? {
    guard let type = text("/token_type"), type.lowercased() != "bearer" else { return nil }
    return "the token's 'token_type' is not Bearer; set 'apply' if requests carry this token in another way"
  }

  private func shown(_ text: String, _ masked: (String) -> String) -> String? {
    // The whole text is masked before it is cut, so that no part of a secret remains.
    ResponseExcerpt.line(Array(masked(text).utf8), isCut: false, limit: 200)
  }

  /// The codes of RFC 6749, section 5.2, and those of section 4.1.2.1 that token endpoints also use.
  private enum ErrorCode: String {
    case invalidRequest = "invalid_request"
    case invalidClient = "invalid_client"
    case invalidGrant = "invalid_grant"
    case unauthorizedClient = "unauthorized_client"
    case unsupportedGrantType = "unsupported_grant_type"
    case invalidScope = "invalid_scope"
    case serverError = "server_error"
    case temporarilyUnavailable = "temporarily_unavailable"

    var isTemporary: Bool {
      switch self {
      case .serverError, .temporarilyUnavailable: true
      case .invalidRequest, .invalidClient, .invalidGrant, .unauthorizedClient, .unsupportedGrantType,
        .invalidScope:
        false
      }
    }

    func remedy(_ grant: OAuth2Grant) -> String? {
      switch self {
      case .invalidGrant where grant.grant == .refreshToken:
        "the refresh token has expired, was revoked, or was used elsewhere: obtain a new one from the server, and "
          + "store it as the value of 'refresh_token'"
      case .invalidClient:
        "check 'client_id', 'client_secret' and 'client_auth' of 'oauth2'"
      case .unauthorizedClient, .unsupportedGrantType:
        "the server does not allow 'grant: \(grant.grant.rawValue)' for this client"
      case .invalidScope: "check 'scope' of 'oauth2'"
      case .invalidRequest, .invalidGrant, .serverError, .temporarilyUnavailable: nil
      }
    }
  }
}
