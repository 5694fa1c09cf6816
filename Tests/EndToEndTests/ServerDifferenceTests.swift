import Foundation
import Testing

/// The differences between servers of one protocol, which docs/servers.md describes.
@Suite(.timeLimit(.minutes(2))) struct `Servers of one protocol` {
  private static func rows(_ protocolName: String, _ servers: Set<String>) -> [ServerRow] {
    ServerRow.possible.filter { row in servers.contains { row.name == "\(protocolName) | \($0)" } }
  }

  /// rclone does not derive the ETag of an object from the ETags of its parts, and forgets a completed upload.
  @Test(arguments: rows("s3_multipart", ["moto", "rclone"]))
  func `of S3 get the file once more if the response to the completion is lost and they cannot show it`(
    _ row: ServerRow
  ) async throws {
    let matrix = try await MatrixJob(
      row, faults: [#"{"match": "^POST .*uploadId=", "number": 1, "lost": true}"#])
    let report = try await matrix.run()
    let isShown = matrix.server is S3Server
    #expect(try await matrix.server.delivered() == [matrix.digest])
    #expect(report.totals.items.done == 1)
    #expect(matrix.proxy.count("^HEAD ") == 1)
    #expect(matrix.creations == (isShown ? 1 : 2))
    #expect(matrix.proxy.successes("^POST .*uploadId=") == (isShown ? 1 : 2))
    #expect(matrix.sent == (isShown ? 1 : 2) * row.size, "\(matrix.proxy.log)")
    #expect(try await (matrix.server as? any S3UploadServer)?.openUploads() == 0)
    await matrix.stop()
  }

  /// These differences do not depend on ferry. docs/servers.md lists them.
  @Test(arguments: rows("s3_multipart", ["moto", "rclone"]))
  func `of S3 respond differently to a request that they cannot execute`(_ row: ServerRow) async throws {
    let server = try await row.start()
    let lines = try await (server as? any S3UploadServer)?.boto(
      """
      from botocore.config import Config
      from botocore.exceptions import ClientError
      s3 = boto3.client("s3", endpoint_url=sys.argv[1], aws_access_key_id=sys.argv[2],
                        aws_secret_access_key=sys.argv[3], region_name="us-east-1",
                        config=Config(retries=dict(total_max_attempts=1)))

      def upload(key, sizes):
        id = s3.create_multipart_upload(Bucket=bucket, Key=key)["UploadId"]
        parts = [dict(PartNumber=n, ETag=part(key, id, n, size)) for n, size in enumerate(sizes, 1)]
        return dict(Bucket=bucket, Key=key, UploadId=id, MultipartUpload=dict(Parts=parts))

      def part(key, id, number, size):
        return s3.upload_part(Bucket=bucket, Key=key, UploadId=id, PartNumber=number, Body=bytes(size))["ETag"]

      def status(request):
        try: return request()["ResponseMetadata"]["HTTPStatusCode"]
        except ClientError as error: return error.response["ResponseMetadata"]["HTTPStatusCode"]

      one = upload("one", [5 << 20, 1])
      first = s3.complete_multipart_upload(**one)["ETag"]
      print("repeated", status(lambda: s3.complete_multipart_upload(**one)))
      print("etag", first == s3.head_object(Bucket=bucket, Key="one")["ETag"])
      two = upload("two", [1, 1])
      print("small", status(lambda: s3.complete_multipart_upload(**two)))
      three = upload("three", [1])
      s3.abort_multipart_upload(Bucket=bucket, Key="three", UploadId=three["UploadId"])
      print("aborted", status(lambda: s3.upload_part(
        Bucket=bucket, Key="three", UploadId=three["UploadId"], PartNumber=1, Body=b"1")))
      """)
    #expect(
      lines
        == (server is S3Server
          ? "repeated 200\netag True\nsmall 400\naborted 500\n"
          : "repeated 404\netag False\nsmall 200\naborted 404\n"))
    await server.stop()
  }

  @Test(arguments: rows("s3_multipart", ["moto", "rclone"]))
  func `of S3 replace an object in spite of If-None-Match if they ignore it`(_ row: ServerRow) async throws {
    var row = row
    row.steps = row.steps.replacing(
      "${file.path}\" }", with: "${file.path}\", headers: { If-None-Match: \"*\" } }")
    let matrix = try await MatrixJob(row)
    let server = try #require(matrix.server as? any S3UploadServer)
    _ = try await server.boto("s3.put_object(Bucket=bucket, Key='f', Body=b'old')")
    let end = try await matrix.start().end()
    let isConditional = matrix.server is S3Server
    #expect(end.status == (isConditional ? 1 : 0), "\(end.stdout)\(end.stderr)")
    #expect(try matrix.job.report().item("f")?.reason?.status == (isConditional ? 412 : nil))
    let old = "cba06b5736faf67e54b07b561eae94395e774c517a7d910a54369e1263ccfbd4"
    #expect(try await server.delivered() == [isConditional ? old : matrix.digest])
    await matrix.stop()
  }

  /// tussi removes an upload when it is complete, and then responds to a query with 404.
  @Test(arguments: rows("tus", ["tuspyserver", "tussi"]))
  func `of tus get the file once more if the response to the last part is lost and they cannot show it`(
    _ row: ServerRow
  ) async throws {
    let matrix = try await MatrixJob(
      row, faults: [MatrixJob.fault(row, row.parts, #""lost": true"#)])
    try await matrix.run()
    let isShown = row.name.hasSuffix("tuspyserver")
    #expect(
      try await matrix.server.delivered() == Array(repeating: matrix.digest, count: isShown ? 1 : 2))
    #expect(matrix.creations == (isShown ? 1 : 2), "\(matrix.proxy.log)")
    await matrix.stop()
  }
}
