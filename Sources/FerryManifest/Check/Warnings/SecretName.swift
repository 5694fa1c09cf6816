/// Recognizes names that indicate secret values, and values that cannot be secret.
///
/// False alarms teach users to ignore warnings. A name is therefore listed only if it rarely has another
/// meaning: `key` (of an object), `pwd` (a folder), `page_token` and `pass` are not listed.
enum SecretName {
  /// Whether the name of a form field, JSON member or query parameter indicates a secret.
  static func isSecret(_ name: String) -> Bool {
    let words = words(name)
    return names.contains(words) || endings.contains { words == $0 || words.hasSuffix("_" + $0) }
  }

  /// Whether the name of a header field indicates a secret.
  static func isSecretHeader(_ name: String) -> Bool {
    let words = words(name)
    return headers.contains(words)
      || isSecret(words.hasPrefix("x_") ? String(words.dropFirst(2)) : words)
  }

  /// The part of a header field's value after its scheme. `Bearer` alone is not a secret.
  static func credentials(_ value: String) -> Substring {
    let trimmed = value.drop { $0 == " " }
    let scheme = trimmed.prefix { $0 != " " }
    return schemes.contains(scheme.lowercased())
      ? trimmed.dropFirst(scheme.count).drop { $0 == " " } : trimmed
  }

  /// Whether a cookie with this name represents a login, rather than a preference.
  static func isLoginCookie(_ name: String) -> Bool {
    let words = words(name)
    return isSecret(words) || words.contains("sess") || words.contains("auth") || words == "sid"
      || words.hasSuffix("_sid") || words.hasSuffix("_token")
  }

  /// Whether a value can be a secret. `token: true`, for example, only requests one.
  static func isSecretValue(_ value: some StringProtocol) -> Bool {
    !value.isEmpty && !plainWords.contains(value.lowercased())
      && !(value.hasPrefix("<") && value.hasSuffix(">"))
      && !value.allSatisfy { "*.xX".contains($0) }
  }

  /// Treats `clientSecret`, `Client-Secret` and `client_secret` as the same name.
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

  /// These words match alone or after other words, as in `db_password`.
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

  /// Words that only indicate whether there is a value.
  private static let plainWords: Set<String> = [
    "true", "false", "yes", "no", "on", "off", "0", "1", "none", "null", "required", "optional",
  ]
}
