import FerryManifest
import Foundation
import Testing

@testable import FerryEngine

struct AWSSettingsTests {
  private let folder: TestFolder

  init() throws { folder = try TestFolder() }

  private func signing(profile: String? = nil, region: String? = nil) -> RequestSigning.AWSV4 {
    var signing = RequestSigning.AWSV4()
    (signing.profile, signing.region) = (profile, region)
    return signing
  }

  private func load(
    _ signing: RequestSigning.AWSV4, _ environment: [String: String] = [:]
  ) throws -> [String: String] {
    let home = ["HOME": folder.path]
    return try AWSSettings.load([signing], environment: home.merging(environment) { $1 }).mapValues(
      \.revealed)
  }

  private func message(_ signing: RequestSigning.AWSV4, _ environment: [String: String] = [:]) -> String {
    do {
      return "\(try load(signing, environment).keys.sorted())"
    } catch {
      return "\(error)".replacing(folder.path, with: "~")
    }
  }

  private func write(_ text: String, to name: String) throws {
    try FileManager.default.createDirectory(
      atPath: folder.path + "/.aws", withIntermediateDirectories: true)
    try Data(text.utf8).write(to: URL(filePath: folder.path + "/.aws/" + name))
  }

  @Test func theEnvironmentComesBeforeProfiles() throws {
    try write("[default]\naws_access_key_id = FILE\naws_secret_access_key = f\n", to: "credentials")
    let values = try load(
      signing(),
      [
        "AWS_ACCESS_KEY_ID": "AK", "AWS_SECRET_ACCESS_KEY": "SK", "AWS_SESSION_TOKEN": "ST",
        "AWS_DEFAULT_REGION": "eu-west-1",
      ])
    #expect(
      values == [
        "aws.access_key.": "AK", "aws.secret_key.": "SK", "aws.session_token.": "ST",
        "aws.region.": "eu-west-1",
      ])
    #expect(
      Set(AWSValue.confidential(values.mapValues { SensitiveValue($0) }).map(\.revealed)) == [
        "AK", "SK", "ST",
      ])
  }

  @Test func profilesAreRead() throws {
    try write(
      """
      # comment
      [default]
      aws_access_key_id=AK1
      aws_secret_access_key = S=1
      s3 =
        max_concurrent_requests = 20

      [ backup ]
      AWS_ACCESS_KEY_ID = AK2\r
      aws_secret_access_key = S2
      aws_session_token = T2
      """, to: "credentials")
    try write(
      "[default]\nregion = us-west-2\n[sso-session x]\nregion = wrong\n[profile backup]\nregion = eu-north-1\n",
      to: "config")
    #expect(
      try load(signing()) == ["aws.access_key.": "AK1", "aws.secret_key.": "S=1", "aws.region.": "us-west-2"])
    let backup = [
      "aws.access_key.backup": "AK2", "aws.secret_key.backup": "S2", "aws.session_token.backup": "T2",
      "aws.region.backup": "eu-north-1",
    ]
    #expect(try load(signing(profile: "backup")) == backup)
    // A profile that the manifest names takes precedence over the credentials in the environment.
    #expect(
      try load(signing(profile: "backup"), ["AWS_ACCESS_KEY_ID": "E", "AWS_SECRET_ACCESS_KEY": "E"]) == backup
    )
    #expect(
      try load(signing(region: "r"), ["AWS_PROFILE": "backup"])["aws.access_key."] == "AK2")
  }

  @Test func missingSettingsAreReported() throws {
    let help =
      "\nhelp: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or 'access_key' and 'secret_key' in the manifest"
    #expect(
      message(signing())
        == "no AWS credentials for 'sign': AWS_ACCESS_KEY_ID is not set, and there is no file with "
        + "profiles" + help)
    #expect(
      message(signing(), ["AWS_ACCESS_KEY_ID": "A"])
        == "AWS_ACCESS_KEY_ID is set, but AWS_SECRET_ACCESS_KEY is not\nhelp: set both")
    #expect(
      message(signing(), ["AWS_ACCESS_KEY_ID": "A\u{7}"])
        == "the environment variable AWS_ACCESS_KEY_ID contains a space or another invalid character")
    try write(
      "[a]\naws_access_key_id = A\n\n[b]\nrole_arn = x\n[c]\naws_access_key_id =\n", to: "credentials")
    #expect(
      message(signing(profile: "x"))
        == "no AWS credentials for 'sign': ~/.aws/credentials has no profile 'x'" + help)
    #expect(
      message(signing(profile: "a")) == "~/.aws/credentials:1: the profile 'a' has no aws_secret_access_key")
    #expect(
      message(signing(profile: "b"))
        == "~/.aws/credentials:4: the profile 'b' has no aws_access_key_id; ferry does not support role_arn, SSO or "
        + "credential_process")
    #expect(
      message(signing(profile: "c"))
        == "~/.aws/credentials:7: the value of aws_access_key_id is empty or contains a space or another invalid character"
    )
    #expect(
      message(signing(), ["AWS_ACCESS_KEY_ID": "A", "AWS_SECRET_ACCESS_KEY": "S"])
        == "no AWS region for 'sign': neither AWS_REGION nor AWS_DEFAULT_REGION is set, and the profile 'default' has "
        + "no region\nhelp: write 'region: …' in 'aws_v4'")
  }

  @Test(arguments: [
    ("a = 1\n", ":1: a setting before the first heading; put it below a heading such as '[default]'"),
    ("\n[a\n", ":2: a heading without ']'; write a heading such as '[default]'"),
    ("[a]\nkey\n", ":2: a line without '='; write settings as 'name = value'"),
  ]) func malformedFilesAreRejected(_ text: String, problem: String) throws {
    try write(text, to: "credentials")
    #expect(message(signing(region: "r")) == "~/.aws/credentials" + problem)
  }

  @Test func hostileFilesAreRejected() throws {
    let begin = "the AWS profiles cannot be read from ~/.aws/credentials: "
    try write(String(repeating: "#", count: (1 << 20) + 1), to: "credentials")
    #expect(message(signing(region: "r")) == begin + "it is larger than 1048576 bytes")
    try Data([0x5B, 0xFF, 0x5D]).write(to: URL(filePath: folder.path + "/.aws/credentials"))
    #expect(message(signing(region: "r")) == begin + "it is not UTF-8")
    #expect(
      message(signing(region: "r"), ["AWS_SHARED_CREDENTIALS_FILE": "/dev/zero"])
        == "the AWS profiles cannot be read from /dev/zero: it is not a regular file")
    guard geteuid() == 0 else { return }
    try write("[default]\n", to: "credentials")
    #expect(chown(folder.path + "/.aws/credentials", 12_345, 12_345) == 0)
    #expect(message(signing(region: "r")) == begin + "it belongs to another user")
  }
}
