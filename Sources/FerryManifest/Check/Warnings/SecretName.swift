/// Which names say that their value is secret, and which values surely are none.
///
/// A false alarm teaches people to overlook warnings, so that a name is here only where it can hardly mean anything
/// else: no `key` (of an object), `pwd` (a folder), `page_token` or `pass`.
enum SecretName {
  /// Of a form's field, a JSON member or a query's parameter.
  static func isSecret(_ name: String) -> Bool {
    let words = words(name)
    return names.contains(words) || endings.contains { words == $0 || words.hasSuffix("_" + $0) }
  }

  /// Of a header field.
  static func isSecretHeader(_ name: String) -> Bool {
    let words = words(name)
    return headers.contains(words)
      || isSecret(words.hasPrefix("x_") ? String(words.dropFirst(2)) : words)
  }

  /// What a header's value has besides its scheme: `Bearer` alone is no secret.
  static func credentials(_ value: String) -> Substring {
    let trimmed = value.drop { $0 == " " }
    let scheme = trimmed.prefix { $0 != " " }
    return schemes.contains(scheme.lowercased())
      ? trimmed.dropFirst(scheme.count).drop { $0 == " " } : trimmed
  }

  /// Whether a cookie of this name stands for a login, rather than for somebody's taste.
  static func isLoginCookie(_ name: String) -> Bool {
    let words = words(name)
    return isSecret(words) || words.contains("sess") || words.contains("auth") || words == "sid"
      || words.hasSuffix("_sid") || words.hasSuffix("_token")
  }

  /// Whether a value can be a secret at all: `token: true` asks for one.
  static func isSecretValue(_ value: some StringProtocol) -> Bool {
    !value.isEmpty && !plainWords.contains(value.lowercased())
      && !(value.hasPrefix("<") && value.hasSuffix(">"))
      && !value.allSatisfy { "*.xX".contains($0) }
  }

  /// `clientSecret`, `Client-Secret` and `client_secret` are one name.
  private static func words(_ name: String) -> String {
    var words = ""
    var wasLower = false
    for letter in name {
      if letter.isUppercase, wasLower { words += "_" }
      wasLower = letter.isLowercase
      words += letter == "-" || letter == "." || letter == " " ? "_" : letter.lowercased()
    }
    return words
  }

  private static let names: Set<String> = [
    "secret", "token", "session_token", "bearer_token", "api_token", "auth_token", "id_token",
  ]

  /// By themselves or behind other words, as in `db_password`.
  private static let endings = [
    "password", "passwd", "passphrase", "client_secret", "api_secret", "app_secret", "access_token",
    "refresh_token", "api_key", "apikey", "private_key", "secret_key", "secret_access_key",
  ]

  private static let headers: Set<String> = [
    "authorization", "proxy_authorization", "api_key", "x_auth_key", "x_vault_token", "x_amz_security_token",
    "x_gitlab_token", "private_token", "job_token", "x_functions_key", "ocp_apim_subscription_key",
  ]

  private static let schemes: Set<String> = [
    "basic", "bearer", "digest", "negotiate", "token", "apikey", "ntlm", "dpop", "key",
  ]

  /// Words for whether there is one.
  private static let plainWords: Set<String> = [
    "true", "false", "yes", "no", "on", "off", "0", "1", "none", "null", "required", "optional",
  ]
}
