import Foundation

/// A server of S3 that checks every signature: moto, which we did not write, with IAM enabled (`Servers/s3-server.py`).
///
/// It listens on a free port of 127.0.0.1, and ends with the last reference to it.
final class S3Server: Sendable {
  /// A Python that has moto.
  static let python = PythonModules.python(with: ["boto3", "moto.server"])

  /// Whether the server can be started. An unnoticed skip would look like a pass, so this prints a message if not.
  static let isPossible: Bool = {
    guard python == nil else { return true }
    FileHandle.standardError.write(
      Data("\n!!!! SKIPPED: the tests of S3 need moto[s3,iam,server]; run scripts/setup test\n\n".utf8))
    return false
  }()

  /// `http://127.0.0.1:PORT`.
  let url: String
  let bucket: String
  /// The credentials of a user who may do everything with S3.
  let accessKey: String
  let secretKey: String
  /// Another access key of the same user, and its secret.
  let otherKeys: [String]
  private let process: RunningCommand
  /// The server ends when its standard input is closed, even if this process is killed.
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

  /// Stops the server and waits for its end.
  func stop() async {
    process.signal(SIGTERM)
    _ = await process.end()
  }

  /// The standard error of the server, for messages.
  var log: String { process.stderr }

  /// Runs a Python program with `s3`, a client of boto3 with the user's credentials, and `bucket`, and returns what it
  /// prints.
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

  /// The keys and sizes of the objects in the bucket, as lines `KEY SIZE`, sorted.
  func objects() async throws -> [String] {
    try await python(
      """
      for page in s3.get_paginator("list_objects_v2").paginate(Bucket=bucket):
        for entry in page.get("Contents", []): print(entry["Key"], entry["Size"])
      """
    ).split(separator: "\n").map { String($0) }.sorted()
  }
}

/// A server of S3 with two pairs of access key and secret key.
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
