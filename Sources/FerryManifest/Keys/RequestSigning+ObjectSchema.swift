extension RequestSigning {
  static let shape = ObjectSchema<Self>(
    "Sign",
    doc: """
      The signature of a request. It is computed for each attempt and for each redirect, with the current time.
      """,
    keys: [
      Key(
        "aws_v4", \.aws, .object(AWSV4.shape), isRequired: true,
        doc: "AWS Signature Version 4, for S3 and compatible servers, and for other services of AWS.",
        example: "{ region: eu-central-1 }")
    ],
    blank: { _, _ in .awsV4(AWSV4()) })

  private var aws: AWSV4 {
    get { if case .awsV4(let signing) = self { signing } else { AWSV4() } }
    set { self = .awsV4(newValue) }
  }
}

extension RequestSigning.AWSV4 {
  static let shape = ObjectSchema<Self>(
    "AWS signature",
    doc: """
      Without `access_key`, the credentials are those of `profile`. Without either, they are those of the \
      environment variables `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY` and `AWS_SESSION_TOKEN` or, if \
      these are not set, of the profile that `AWS_PROFILE` names (`default`). Profiles are read from \
      `AWS_SHARED_CREDENTIALS_FILE` (`~/.aws/credentials`) and \
      `AWS_CONFIG_FILE` (`~/.aws/config`) when a run starts.
      """,
    keys: [
      Key(
        "region", \.region, .scopeName("region"),
        default: "`AWS_REGION`, `AWS_DEFAULT_REGION`, or the profile's",
        doc: "The region of the service.", example: "eu-central-1"),
      Key(
        "service", \.service, .scopeName("service name"),
        doc: "The service's name in signatures.", example: "execute-api"),
      Key(
        "profile", \.profile, .constant("profile name"), default: "the environment's",
        doc: "The profile whose credentials are used, even if the environment contains others.",
        example: "backup"),
      Key(
        "access_key", \.accessKey, .headerValue, default: "the profile's", doc: "The access key ID.",
        example: "\"${secrets.access_key}\""),
      Key(
        "secret_key", \.secretKey, .headerValue, default: "the profile's", doc: "The secret access key.",
        example: "\"${secrets.secret_key}\""),
      Key(
        "session_token", \.sessionToken, .headerValue, default: "none; the profile's without `access_key`",
        doc: "The session token of temporary credentials.", example: "\"${secrets.session_token}\""),
      Key(
        "payload", \.payload, .choice(),
        default: "`unsigned` for a file that is sent to S3 over https, otherwise `signed`",
        doc: """
          Whether the signature covers the body. With `signed`, ferry reads a file twice, because the digest is sent \
          before the content.
          """,
        example: "signed"),
    ],
    rules: [
      .requires("access_key", "secret_key"), .requires("secret_key", "access_key"),
      .requires("session_token", "access_key"), .atMostOne(["profile", "access_key"]),
    ],
    blank: { _, _ in Self() })
}

extension ValueKind where Value == String {
  /// A part of a signature's scope. Slashes separate the parts.
  fileprivate static func scopeName(_ what: String) -> Self {
    constant(what).refused { name in
      let isName = name.utf8.allSatisfy { byte in
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."):
          true
        default: false
        }
      }
      guard !isName else { return nil }
      return Problem(
        .invalidName, "this is not a valid \(what)", help: "use only ASCII letters, digits, '-', '_' and '.'")
    }
  }
}
