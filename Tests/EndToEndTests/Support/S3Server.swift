import Foundation

/// moto, an S3 server that is not part of this project, with IAM enabled, so that it checks every signature
/// (`Servers/s3-server.py`).
///
/// It listens on a free port of 127.0.0.1, and is stopped when the last reference to it is released.
final class S3Server: Sendable {
  /// A Python that has moto.
  static let python = PythonModules.python(with: ["boto3", "moto.server"])

  /// Whether the server can be started. If not, a message is printed, because an unnoticed skip would look like a pass.
  static let isPossible: Bool = {
    guard python == nil else { return true }
    FileHandle.standardError.write(
      Data("\n!!!! SKIPPED: the tests of S3 need moto[s3,iam,server]; run scripts/setup test\n\n".utf8))
    return false
  }()

  /// `http://127.0.0.1:PORT`.
  let url: String
  let bucket: String
  /// The credentials of a user with all S3 permissions.
  let accessKey: String
  let secretKey: String
  /// Another access key of the same user, and its secret key.
  let otherKeys: [String]
  private let process: RunningCommand
  /// The server exits when its standard input is closed, even if this process is killed.
  private let input: Pipe

  /// The URL of the bucket.
  var bucketURL: String { "\(url)/\(bucket)" }

  /// The environment variables from which ferry reads the credentials.
  var environment: [String: String] {
    [
      "AWS_ACCESS_KEY_ID": accessKey, "AWS_SECRET_ACCESS_KEY": secretKey, "AWS_REGION": "us-east-1",
      "AWS_SESSION_TOKEN": "",
    ]
  }

  private init(_ process: RunningCommand, input: Pipe, bucket: String) async throws {
    (self.process, self.input, self.bucket) = (process, input, bucket)
    url = "http://127.0.0.1:" + (try await process.line(after: "port ", within: .seconds(60)))
    accessKey = try await process.line(after: "access_key ")
    secretKey = try await process.line(after: "secret_key ")
    otherKeys = [
      try await process.line(after: "other_access_key "), try await process.line(after: "other_secret_key "),
    ]
  }

  deinit { process.signal(SIGKILL) }

  /// Starts the server with an empty bucket.
  static func start(bucket: String = "photos") async throws -> S3Server {
    guard let python else { throw CommandFailure(description: "no Python has moto") }
    let input = Pipe()
    let process = try RunningCommand(
      python, [Product.source("Tests/EndToEndTests/Servers/s3-server.py"), bucket], input: input)
    return try await S3Server(process, input: input, bucket: bucket)
  }

  /// Stops the server, and waits until it has exited.
  func stop() async {
    process.signal(SIGTERM)
    _ = await process.end()
  }

  /// The standard error of the server, for messages.
  var log: String { process.stderr }

  /// Runs a Python program, and returns its output. In the program, `s3` is a boto3 client with the user's credentials,
  /// and `bucket` is the bucket's name.
  func python(_ program: String) async throws -> String {
    try await Self.python(program, url, accessKey, secretKey, bucket: bucket)
  }

  static func python(
    _ program: String, _ url: String, _ accessKey: String, _ secretKey: String, bucket: String
  ) async throws -> String {
    let setup = """
      import boto3, sys
      s3 = boto3.client("s3", endpoint_url=sys.argv[1], aws_access_key_id=sys.argv[2],
                        aws_secret_access_key=sys.argv[3], region_name="us-east-1")
      bucket = sys.argv[4]

      """
    guard let python else { throw CommandFailure(description: "no Python has boto3") }
    let command = try await Command.run(python, ["-c", setup + program, url, accessKey, secretKey, bucket])
    guard command.status == 0 else { throw CommandFailure(description: command.stderr) }
    return command.stdout
  }

  /// The objects in the bucket as sorted lines `KEY SIZE`.
  func objects() async throws -> [String] {
    try await python(
      """
      for page in s3.get_paginator("list_objects_v2").paginate(Bucket=bucket):
        for entry in page.get("Contents", []): print(entry["Key"], entry["Size"])
      """
    ).split(separator: "\n").map { String($0) }.sorted()
  }
}

/// An S3 server with two access keys and their secret keys.
protocol S3UploadServer: UploadServer {
  var bucket: String { get }
  var credentials: [[String]] { get }
}

extension S3UploadServer {
  /// Runs a Python program as ``S3Server/python(_:)`` does.
  func boto(_ program: String) async throws -> String {
    try await S3Server.python(program, url, credentials[1][0], credentials[1][1], bucket: bucket)
  }

  func delivered() async throws -> [String] {
    let lines = try await boto(
      """
      import hashlib
      for entry in s3.list_objects_v2(Bucket=bucket).get("Contents", []):
        body = s3.get_object(Bucket=bucket, Key=entry["Key"])["Body"]
        print(hashlib.sha256(body.read()).hexdigest())
      """)
    return lines.split(separator: "\n").map(String.init)
  }

  /// The number of unfinished multipart uploads.
  func openUploads() async throws -> Int {
    let text = try await boto("print(len(s3.list_multipart_uploads(Bucket=bucket).get('Uploads', [])))")
    return Int(text.trimmingCharacters(in: .whitespacesAndNewlines)) ?? -1
  }

  func forget(_ target: String) async throws {
    let components = URLComponents(string: target)
    let upload = components?.queryItems?.first { $0.name == "uploadId" }?.value ?? ""
    let key = components?.path.split(separator: "/").dropFirst().joined(separator: "/") ?? ""
    _ = try await boto("s3.abort_multipart_upload(Bucket=bucket, Key='\(key)', UploadId='\(upload)')")
  }
}

extension S3Server: S3UploadServer {
  var credentials: [[String]] { [[accessKey, secretKey], otherKeys] }
}
