import FerryManifest

/// When a run starts, loads the credentials and regions that a manifest's AWS signatures do not contain.
struct AWSSettings {
  private let environment: [String: String]
  private var files: (credentials: AWSProfileFile?, config: AWSProfileFile?)?

  /// The settings by their names (`AWSValue.name(profile:)`).
  static func load(
    _ signatures: [RequestSigning.AWSV4], environment: [String: String]
  ) throws(UsageError) -> [String: SensitiveValue] {
    var settings = AWSSettings(environment: environment)
    var values: [String: SensitiveValue] = [:]
    for signature in signatures {
      func keep(_ setting: AWSValue, _ text: String?) {
        values[setting.name(profile: signature.profile)] = text.map { SensitiveValue($0) }
      }
      if signature.usesProfile, values[AWSValue.accessKey.name(profile: signature.profile)] == nil {
        let found = try settings.credentials(signature.profile)
        keep(.accessKey, found.accessKey)
        keep(.secretKey, found.secretKey)
        keep(.sessionToken, found.sessionToken)
      }
      if signature.region == nil, values[AWSValue.region.name(profile: signature.profile)] == nil {
        keep(.region, try settings.region(signature.profile))
      }
    }
    return values
  }

  private init(environment: [String: String]) { self.environment = environment }

  private struct Credentials {
    var accessKey: String
    var secretKey: String
    var sessionToken: String?
  }

  private mutating func credentials(_ profile: String?) throws(UsageError) -> Credentials {
    if profile == nil, let accessKey = try variable("AWS_ACCESS_KEY_ID") {
      guard let secretKey = try variable("AWS_SECRET_ACCESS_KEY") else {
        throw UsageError("AWS_ACCESS_KEY_ID is set, but AWS_SECRET_ACCESS_KEY is not\nhelp: set both")
      }
      return Credentials(
        accessKey: accessKey, secretKey: secretKey, sessionToken: try variable("AWS_SESSION_TOKEN"))
    }
    let name = try name(of: profile)
    let files = try profileFiles()
    let known = [files.credentials, files.config].compactMap(\.self)
    for file in known {
      guard let accessKey = try file.value("aws_access_key_id", of: name) else { continue }
      guard let secretKey = try file.value("aws_secret_access_key", of: name) else {
        throw file.failure(
          "the profile '\(name)' has no aws_secret_access_key", at: file.profiles[name]?.line ?? 1)
      }
      return Credentials(
        accessKey: accessKey, secretKey: secretKey,
        sessionToken: try file.value("aws_session_token", of: name))
    }
    if let file = known.first(where: { $0.profiles[name] != nil }) {
      throw file.failure(
        "the profile '\(name)' has no aws_access_key_id; ferry does not support role_arn, SSO or credential_process",
        at: file.profiles[name]?.line ?? 1)
    }
    let places =
      known.isEmpty ? "there is no file with profiles" : known.map(\.path).joined(separator: " and ")
    let reason =
      known.isEmpty ? places : "\(places) \(known.count == 1 ? "has" : "have") no profile '\(name)'"
    throw UsageError(
      "no AWS credentials for 'sign': \(profile == nil ? "AWS_ACCESS_KEY_ID is not set, and " : "")\(reason)\n"
        + "help: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or 'access_key' and 'secret_key' in the manifest"
    )
  }

  private mutating func region(_ profile: String?) throws(UsageError) -> String {
    if let region = try variable("AWS_REGION") { return region }
    if let region = try variable("AWS_DEFAULT_REGION") { return region }
    let name = try name(of: profile)
    let files = try profileFiles()
    for file in [files.config, files.credentials].compactMap(\.self) {
      if let region = try file.value("region", of: name) { return region }
    }
    throw UsageError(
      "no AWS region for 'sign': neither AWS_REGION nor AWS_DEFAULT_REGION is set, and the profile '\(name)' has no "
        + "region\nhelp: write 'region: …' in 'aws_v4'")
  }

  private func name(of profile: String?) throws(UsageError) -> String {
    if let profile { return profile }
    guard let profile = try variable("AWS_PROFILE") else { return "default" }
    return profile
  }

  /// The value of a variable; `nil` if it is unset or empty.
  private func variable(_ name: String) throws(UsageError) -> String? {
    guard let value = environment[name], !value.isEmpty else { return nil }
    guard name == "AWS_PROFILE" || AWSValue.isValid(value) else {
      throw UsageError("the environment variable \(name) contains a space or another invalid character")
    }
    return value
  }

  private mutating func profileFiles() throws(UsageError) -> (
    credentials: AWSProfileFile?, config: AWSProfileFile?
  ) {
    if let files { return files }
    let credentials = try Self.credentialsPath(environment).flatMap { path throws(UsageError) in
      try AWSProfileFile(path, isConfig: false)
    }
    let config = try Self.configPath(environment).flatMap { path throws(UsageError) in
      try AWSProfileFile(path, isConfig: true)
    }
    files = (credentials, config)
    return (credentials, config)
  }

  /// The files with the profiles, which need not exist. Relative paths are relative to the working directory.
  static func profilePaths(_ environment: [String: String]) -> [String] {
    [credentialsPath(environment), configPath(environment)].compactMap(\.self)
  }

  private static func credentialsPath(_ environment: [String: String]) -> String? {
    path("AWS_SHARED_CREDENTIALS_FILE", inHome: "credentials", environment)
  }

  private static func configPath(_ environment: [String: String]) -> String? {
    path("AWS_CONFIG_FILE", inHome: "config", environment)
  }

  private static func path(
    _ variable: String, inHome name: String, _ environment: [String: String]
  ) -> String? {
    if let path = environment[variable], !path.isEmpty { return path }
    guard let home = environment["HOME"], !home.isEmpty else { return nil }
    return "\(home)/.aws/\(name)"
  }
}
