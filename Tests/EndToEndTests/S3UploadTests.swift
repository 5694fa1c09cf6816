import Foundation
import Testing

/// `transfer.protocol: s3_multipart` against moto, behind a proxy that injects faults.
@Suite(.enabled(if: S3Server.isPossible, "moto is needed: scripts/setup test"), .timeLimit(.minutes(4)))
struct `An upload to S3` {
  private static let part = 5 << 20

  private func job(
    _ server: S3Server, _ proxy: FaultProxy, headers: String = "", keys: String = "", connections: Int = 2
  ) throws -> Workspace {
    try Workspace(
      """
      version: 1
      name: s3
      sessions: { s3: { kind: background, max_connections_per_host: \(connections), sign: { aws_v4: {} } } }
      uploads:
        photos:
          session: s3
          files: { root: files }
          retry: { limit: 5, initial: 10ms }
          transfer:
            protocol: s3_multipart
            part_size: 5MiB
            threshold: 6MiB
            \(keys)
            request: { url: "\(proxy.url)/\(server.bucket)/${file.path}"\(headers) }

      """)
  }

  private func run(_ job: Workspace, _ server: S3Server) async throws -> (command: Command, report: RunReport)
  {
    let command = try await job.ferry(
      "run", "job.yaml", "--report", "report.json", environment: server.environment)
    return (command, try job.report())
  }

  private func write(_ sizes: [String: Int], to job: Workspace) throws {
    var random = SplitMix(seed: 14)
    for (name, size) in sizes.sorted(by: { $0.key < $1.key }) {
      try job.folder.write(random.bytes(size), to: "files/\(name)")
    }
  }

  /// The SHA-256 digests of the objects, read with boto3, by key.
  private func digests(_ server: S3Server) async throws -> [String: String] {
    let lines = try await server.python(
      """
      import hashlib
      for entry in s3.list_objects_v2(Bucket=bucket).get("Contents", []):
        body = s3.get_object(Bucket=bucket, Key=entry["Key"])["Body"]
        print(entry["Key"], hashlib.sha256(body.read()).hexdigest())
      """)
    return Dictionary(
      uniqueKeysWithValues: lines.split(separator: "\n").map {
        let words = $0.split(separator: " ")
        return (String(words[0]), String(words[1]))
      })
  }

  private func openUploads(_ server: S3Server) async throws -> Int {
    let text = try await server.python(
      "print(len(s3.list_multipart_uploads(Bucket=bucket).get('Uploads', [])))")
    return Int(text.trimmingCharacters(in: .whitespacesAndNewlines)) ?? -1
  }

  private func expected(_ names: [String], _ job: Workspace) async throws -> [String: String] {
    try await TestFiles.digests(of: names, under: job.folder.path("files"))
  }

  @Test func `arrives unchanged, whatever its size`() async throws {
    let server = try await S3Server.start()
    let proxy = try await FaultProxy.start(before: server.url)
    let job = try job(server, proxy, headers: ", headers: { Content-Type: image/png, x-amz-meta-a: b }")
    let sizes = [
      "empty": 0, "small": 1000, "threshold": 6 << 20, "below": (6 << 20) - 1, "parts": 2 * Self.part,
      "more": 2 * Self.part + 1,
    ]
    try write(sizes, to: job)
    let (command, report) = try await run(job, server)
    #expect(command.status == 0, "\(command.stdout)\(command.stderr)")
    #expect(try await digests(server) == expected(Array(sizes.keys), job))
    #expect(try await openUploads(server) == 0)
    #expect(report.totals.bytes.useful == sizes.values.reduce(0, +) && report.totals.bytes.resent == 0)
    #expect(proxy.count("^POST .*uploads$") == 3 && proxy.count("partNumber=") == 7)
    let types = try await server.python(
      """
      for key in ["small", "more"]:
        head = s3.head_object(Bucket=bucket, Key=key)
        print(head["ContentType"], head["Metadata"])
      """)
    #expect(types == "image/png {'a': 'b'}\nimage/png {'a': 'b'}\n")
    let again = try await run(job, server)
    #expect(again.report.totals.requests == 0)
  }

  @Test(arguments: ["s3", "s3-multipart"])
  func `works as in the examples`(_ name: String) async throws {
    let server = try await S3Server.start()
    let folder = try TemporaryFolder()
    var random = SplitMix(seed: 5)
    try folder.write(random.bytes(17 << 20), to: "files/large")
    try folder.write(random.bytes(100), to: "files/small")
    let command = try await Command.run(
      Product.path("ferry"),
      ["run", Product.source("examples/\(name).yaml"), "--state", folder.path("state")],
      environment: server.environment.merging(
        ["S3_BUCKET_URL": server.bucketURL, "S3_FILES": folder.path("files")]) { $1 })
    #expect(command.status == 0, "\(command.stdout)\(command.stderr)")
    let digests = try await TestFiles.digests(of: ["large", "small"], under: folder.path("files"))
    #expect(try await self.digests(server) == digests)
  }

  @Test func `sends several parts of a file at the same time`() async throws {
    let server = try await S3Server.start()
    let proxy = try await FaultProxy.start(
      before: server.url, faults: #"{"match": "partNumber", "delay": 0.5}"#)
    let job = try job(server, proxy, keys: "parallel_parts: 4", connections: 6)
    try write(["large": 4 * Self.part], to: job)
    let (command, report) = try await run(job, server)
    #expect(command.status == 0, "\(command.stdout)\(command.stderr)")
    #expect(report.totals.bytes.useful == 4 * Self.part && report.totals.bytes.resent == 0)
    #expect(try await digests(server) == expected(["large"], job))
    #expect(proxy.mostConcurrent("partNumber") == 4)
  }

  @Test(arguments: ["crc32c", "sha256", "crc32", "sha1"])
  func `has the checksums of its parts`(_ algorithm: String) async throws {
    let server = try await S3Server.start()
    let proxy = try await FaultProxy.start(before: server.url)
    // moto reads a checksum only if this header field, which Amazon's clients send, names the algorithm.
    let headers = ", headers: { x-amz-sdk-checksum-algorithm: \(algorithm.uppercased()) }"
    let job = try job(server, proxy, headers: headers, keys: "checksum: \(algorithm)")
    try write(["large": 7 << 20, "small": 1000], to: job)
    let (command, _) = try await run(job, server)
    #expect(command.status == 0, "\(command.stdout)\(command.stderr)")
    #expect(try await digests(server) == expected(["large", "small"], job))
    // The server returns the checksum that it received, but does not compare it with the content.
    let stated = try await server.python(
      """
      head = s3.head_object(Bucket=bucket, Key="small", ChecksumMode="ENABLED")
      print(head.get("Checksum\(algorithm.uppercased())"))
      """)
    let script = """
      import base64, hashlib, sys, zlib
      data = open(sys.argv[1], "rb").read()
      def crc32c(data):
        crc = 0xFFFFFFFF
        for byte in data:
          crc ^= byte
          for _ in range(8): crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
        return (crc ^ 0xFFFFFFFF).to_bytes(4, "big")
      sums = {"sha1": lambda: hashlib.sha1(data).digest(), "sha256": lambda: hashlib.sha256(data).digest(),
              "crc32": lambda: zlib.crc32(data).to_bytes(4, "big"), "crc32c": lambda: crc32c(data)}
      print(base64.b64encode(sums[sys.argv[2]]()).decode())
      """
    let wanted = try await Command.run("python3", ["-c", script, job.folder.path("files/small"), algorithm])
    #expect(stated == wanted.stdout, "\(stated)")
  }

  @Test func `shows in explain the part that the server has, after a kill`() async throws {
    let server = try await S3Server.start()
    let proxy = try await FaultProxy.start(
      before: server.url, faults: #"{"match": "partNumber=[3-9]", "delay": 60}"#)
    let job = try job(server, proxy)
    try write(["large": 4 * Self.part], to: job)
    let run = try job.start(["run", "job.yaml", "--quiet"], environment: server.environment)
    while run.isRunning, proxy.successes("partNumber=[12]") < 2 {
      try await Task.sleep(for: .milliseconds(10))
    }
    // The journal records the outcomes of these parts within 5 ms.
    try await Task.sleep(for: .seconds(1))
    run.signal(SIGKILL)
    _ = await run.end()
    let explained = try await job.ferry(
      "explain", "large", "--manifest", "job.yaml", environment: server.environment)
    #expect(
      explained.stdout.contains("the server has confirmed 10.5 MB of 21.0 MB, 2 of 4 parts (s3_multipart)"),
      "\(explained.stdout)\(explained.stderr)")
    let json = try await job.ferry(
      "explain", "large", "--manifest", "job.yaml", "--format", "json", environment: server.environment)
    #expect(json.stdout.contains(#""confirmed_bytes" : 10485760"#), "\(json.stdout)")
  }

  @Test func `sends only the missing parts after each kill`() async throws {
    let server = try await S3Server.start()
    let proxy = try await FaultProxy.start(
      before: server.url, faults: #"{"match": "partNumber", "delay": 0.15}"#)
    let job = try job(server, proxy)
    let size = 12 * Self.part + 77
    try write(["large": size], to: job)
    let (kills, end) = try await job.runWithKills(
      atMost: 5, after: 1...3, in: 0..<200, seed: 3, arguments: ["--report", "report.json"],
      environment: server.environment
    ) { proxy.count("partNumber=") }
    #expect(end.status == 0, "\(end.stderr)")
    #expect(try await digests(server) == expected(["large"], job))
    let received = proxy.requests.filter { $0.line.contains("partNumber=") }.reduce(0) { $0 + $1.bytes }
    #expect(kills > 2, "\(kills) kills")
    #expect(received - size <= kills * 2 * Self.part, "at most what was in flight is received twice")
    #expect(proxy.count("^GET .*uploadId=") >= kills - 1, "the parts are listed after a kill")
  }

  /// A part of the old size may have the same number and size as a part of the new size.
  @Test func `starts over after an edit of the size of its parts`() async throws {
    let server = try await S3Server.start()
    let proxy = try await FaultProxy.start(
      before: server.url, faults: #"{"match": "partNumber=3", "number": 1, "status": 500}"#)
    let job = try job(server, proxy, keys: "parallel_parts: 1")
    let retries = try String(contentsOfFile: job.folder.path("job.yaml"), encoding: .utf8)
    try job.write(manifest: retries.replacing("limit: 5", with: "limit: 0"))
    try write(["large": 3 * Self.part], to: job)
    #expect(try await run(job, server).command.status != 0)
    try job.write(manifest: retries.replacing("part_size: 5MiB", with: "part_size: 10MiB"))
    let (command, _) = try await run(job, server)
    #expect(command.status == 0, "\(command.stdout)\(command.stderr)")
    #expect(try await digests(server) == expected(["large"], job))
    #expect(try await openUploads(server) == 0)
  }

  @Test func `is completed once if the response to its completion is lost`() async throws {
    let server = try await S3Server.start()
    _ = try await server.python(
      "s3.put_bucket_versioning(Bucket=bucket, VersioningConfiguration={'Status': 'Enabled'})")
    let proxy = try await FaultProxy.start(
      before: server.url, faults: #"{"match": "^POST .*uploadId=", "number": 1, "lost": true}"#)
    let job = try job(server, proxy)
    try write(["large": 7 << 20], to: job)
    let (command, report) = try await run(job, server)
    #expect(command.status == 0, "\(command.stdout)\(command.stderr)")
    #expect(report.totals.items.done == 1)
    #expect(proxy.count("^POST .*uploadId=") == 1 && proxy.count("^HEAD ") == 1)
    let versions = try await server.python(
      "print(len(s3.list_object_versions(Bucket=bucket).get('Versions', [])))")
    #expect(versions == "1\n")
    #expect(try await digests(server) == expected(["large"], job))
  }

  @Test(arguments: [
    #"{"match": "partNumber=2", "number": 1, "status": 500}"#,
    #"{"match": "partNumber=2", "number": 1, "status": 503}"#,
    #"{"match": "partNumber=1", "number": 1, "drop": 100000}"#,
    #"{"match": "partNumber=1", "number": 1, "lost": true}"#,
    #"{"match": "^POST .*uploadId=", "number": 1, "status": 500}"#,
    #"{"match": "^POST .*uploadId=", "number": 1, "status": 503}"#,
  ])
  func `continues after a fault`(_ fault: String) async throws {
    let server = try await S3Server.start()
    let proxy = try await FaultProxy.start(before: server.url, faults: fault)
    let job = try job(server, proxy)
    try write(["large": 7 << 20], to: job)
    let (command, report) = try await run(job, server)
    #expect(command.status == 0, "\(command.stdout)\(command.stderr)")
    #expect(try await digests(server) == expected(["large"], job))
    #expect(report.totals.bytes.useful == 7 << 20)
    #expect(proxy.count("^POST .*uploads$") == 1)
  }

  /// S3 may respond with a 200 before it knows the outcome.
  @Test func `is completed again if the response with 200 reports an error`() async throws {
    let server = try await S3Server.start()
    let error = "<Error><Code>InternalError</Code></Error>"
    let proxy = try await FaultProxy.start(
      before: server.url,
      faults: #"{"match": "^POST .*uploadId=", "number": 1, "body": "\#(error)"}"#)
    let job = try job(server, proxy)
    try write(["large": 7 << 20], to: job)
    let (command, _) = try await run(job, server)
    #expect(command.status == 0, "\(command.stdout)\(command.stderr)")
    // The completion was executed behind the proxy, so the probe finds the object.
    #expect(proxy.count("^POST .*uploadId=") == 1 && proxy.count("^HEAD ") == 1)
    #expect(try await digests(server) == expected(["large"], job))
  }

  @Test func `starts over if the upload no longer exists`() async throws {
    let server = try await S3Server.start()
    let proxy = try await FaultProxy.start(
      before: server.url, faults: #"{"match": "partNumber=2", "number": 1, "status": 404}"#)
    let job = try job(server, proxy)
    try write(["large": 7 << 20], to: job)
    let (command, report) = try await run(job, server)
    #expect(command.status == 0, "\(command.stdout)\(command.stderr)")
    #expect(proxy.count("^POST .*uploads$") == 2)
    #expect(report.totals.idsExpired == 1)
    #expect(try await digests(server) == expected(["large"], job))
  }

  @Test func `is aborted if it fails, and listed until then`() async throws {
    let server = try await S3Server.start()
    let proxy = try await FaultProxy.start(
      before: server.url,
      faults: #"""
        {"match": "partNumber=2", "status": 400}, {"match": "^DELETE ", "times": 6, "status": 500}
        """#)
    let job = try job(server, proxy)
    try write(["large": 7 << 20], to: job)
    let (command, _) = try await run(job, server)
    #expect(command.status == 1, "\(command.stdout)\(command.stderr)")
    #expect(try await openUploads(server) == 1)
    let orphans = try await job.ferry("orphans", "s3.s3", environment: server.environment)
    #expect(orphans.stdout.contains("large"), "\(orphans.stdout)\(orphans.stderr)")
    try FileManager.default.removeItem(atPath: job.folder.path("files/large"))
    _ = try await run(job, server)
    #expect(try await openUploads(server) == 0)
  }
}
