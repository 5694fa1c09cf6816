import FerryDigest
import FerryPlan
import Testing

@testable import FerryTransfer

struct AWSSignatureTests {
  private static let credentials = AWSCredentials(
    accessKey: "AKIAIOSFODNN7EXAMPLE", secretKey: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY")
  private static let date = Instant(rfc3339: "2013-05-24T00:00:00Z") ?? Instant(nanoseconds: 0)
  private static let empty = AWSSignature.Payload.sha256(SHA256.hash([]))

  private func fields(
    _ method: String, _ url: String, _ headers: [(String, String)] = [],
    _ payload: AWSSignature.Payload = Self.empty,
    scope: AWSScope = AWSScope(region: "us-east-1", service: "s3"),
    credentials: AWSCredentials = Self.credentials
  ) throws -> AWSSignature.Fields {
    var keys = AWSSigningKeys()
    return try #require(
      AWSSignature(
        method: method, url: url, headers: headers.map { .init(name: $0.0, value: $0.1) }, payload: payload,
        date: Self.date, scope: scope, credentials: credentials)
    ).fields(&keys)
  }

  private func signature(_ fields: AWSSignature.Fields) -> String? {
    fields.authorization.split(separator: "=").last.map { String($0) }
  }

  /// "Signature Calculations for the Authorization Header" in the Amazon S3 API Reference.
  @Test func theExamplesOfS3HaveTheirSignatures() throws {
    let bucket = "https://examplebucket.s3.amazonaws.com"
    let range = try fields("GET", bucket + "/test.txt", [("Range", "bytes=0-9")])
    #expect(
      range.authorization
        == "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request, "
        + "SignedHeaders=host;range;x-amz-content-sha256;x-amz-date, "
        + "Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41")
    #expect(range.date == "20130524T000000Z" && range.sessionToken == nil)
    #expect(range.payloadHash == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
    let put = try fields(
      "PUT", bucket + "/test$file.text",
      [("Date", "Fri, 24 May 2013 00:00:00 GMT"), ("x-amz-storage-class", "REDUCED_REDUNDANCY")],
      .sha256(SHA256.hash("Welcome to Amazon S3.".utf8)))
    #expect(signature(put) == "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd")
    let lifecycle = try fields("GET", bucket + "?lifecycle")
    #expect(signature(lifecycle) == "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543")
    let list = try fields("GET", bucket + "/?prefix=J&max-keys=2")
    #expect(signature(list) == "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7")
  }

  /// The expected signatures were computed by botocore 1.43.11.
  @Test func otherSignaturesEqualThoseOfBotocore() throws {
    let credentials = AWSCredentials(
      accessKey: "AKIAIOSFODNN7EXAMPLE", secretKey: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
      sessionToken: "tok/en==")
    // This request has an encoded path, empty segments, a port and repeated spaces.
    let api = try fields(
      "POST", "https://api.example.com:8443/a%20b//c/",
      [("Content-Type", "application/json"), ("X-Two", "  a   b ")], .sha256(SHA256.hash(#"{"a":1}"#.utf8)),
      scope: AWSScope(region: "eu-central-1", service: "execute-api"), credentials: credentials)
    #expect(signature(api) == "ecf306ead6dae6565ac67ca1d58bbd04cd4115eeb950cb6ae80744378f2f4de3")
    #expect(api.sessionToken == "tok/en==")
    let part = try fields(
      "PUT", "https://b.s3.eu-central-1.amazonaws.com/a%20b//c%2Bd~?uploadId=a%2Fb%3D&partNumber=2",
      [("Content-Type", "image/jpeg"), ("User-Agent", "ferry"), ("Content-Length", "1")],
      .sha256(SHA256.hash("x".utf8)), scope: AWSScope(region: "eu-central-1", service: "s3"),
      credentials: credentials)
    #expect(signature(part) == "de24cd5c093967cc907029e960660e16f9a890e514ab00f90b9f915cabe1647c")
  }

  private func canonical(_ url: String, service: String = "s3") throws -> [String] {
    let signature = try #require(
      AWSSignature(
        method: "GET", url: url, headers: [], payload: .unsigned, date: Self.date,
        scope: AWSScope(region: "r", service: service), credentials: Self.credentials))
    return signature.canonicalRequest.split(separator: "\n", omittingEmptySubsequences: false).map {
      String($0)
    }
  }

  @Test(arguments: [
    ("/", "/", "/"), ("", "/", "/"), ("/a//b", "/a//b", "/a/b"), ("/a%2Fb", "/a%2Fb", "/a%252Fb"),
    ("/a(b)", "/a%28b%29", "/a%28b%29"), ("/a%28b%7e", "/a%28b~", "/a%2528b%257e"),
    ("/100%", "/100%25", "/100%25"),
    ("/%C3%A4", "/%C3%A4", "/%25C3%25A4"),
  ]) func pathsAreEncodedByTheService(_ path: String, s3: String, other: String) throws {
    #expect(try canonical("http://h" + path)[1] == s3)
    #expect(try canonical("http://h" + path, service: "execute-api")[1] == other)
  }

  @Test(arguments: [
    ("?b=2&a=1", "a=1&b=2"), ("?a=2&a=10", "a=10&a=2"), ("?a=b=c", "a=b%3Dc"), ("?a+b=%20&c", "a%20b=%20&c="),
    ("?", ""), ("?&&a", "a="), ("?A=1&a=2&B=3", "A=1&B=3&a=2"),
  ]) func parametersAreSortedAndEncoded(_ query: String, canonical expected: String) throws {
    #expect(try canonical("http://h/" + query)[2] == expected)
  }

  @Test(arguments: [
    ("http://h:80/", "h"), ("https://h:443/", "h"), ("http://h:443/", "h:443"),
    ("http://[::1]:9000/", "[::1]:9000"),
    ("http://u:p@h:8080/", "h:8080"),
  ]) func theHostHasItsPort(_ url: String, host: String) throws {
    #expect(try canonical(url)[3] == "host:\(host)")
  }

  @Test func aPresignedURLIsRecognized() {
    #expect(AWSSignature.isPresigned("https://b.s3.amazonaws.com/k?X-Amz-Date=1&X-Amz-Signature=ab"))
    #expect(!AWSSignature.isPresigned("https://b.s3.amazonaws.com/X-Amz-Signature=ab"))
  }

  @Test func credentialsAreNotPrinted() {
    var text = ""
    dump(Self.credentials, to: &text)
    #expect("\(Self.credentials)" == "***" && !text.contains("wJalr"))
  }

  // MARK: Redirects

  private func request(_ owner: TransferRequest.HeaderField.Owner = .request) -> TransferRequest {
    var request = TransferRequest(id: 1, method: "GET", url: "https://a.example/x")
    request.signing = AWSSigning(
      credentials: AWSCredentials(accessKey: "AK", secretKey: "SK", sessionToken: "ST"),
      scope: AWSScope(region: "r", service: "s3"), payload: .signed(file: nil), date: Self.date, owner: owner)
    request.headers = request.signing?.placeholders ?? []
    return request
  }

  private func hop(_ request: TransferRequest) throws -> RedirectPolicy.Hop {
    var hop = RedirectPolicy.Hop(method: "GET", url: request.url, headers: request.headers, hasBody: false)
    var keys = AWSSigningKeys()
    try hop.sign(request, after: .zero, &keys)
    return hop
  }

  private func followed(
    _ location: String, _ request: TransferRequest, _ rules: TransferRequest.AcrossOrigins
  ) throws -> RedirectPolicy.Hop? {
    let decision = RedirectPolicy.decide(
      status: 307, location: location, hop: try hop(request), sensitive: request.sensitive,
      rules: .init(acrossOrigins: rules), followed: 0)
    guard case .follow(var next, _) = decision else { return nil }
    var keys = AWSSigningKeys()
    try next.sign(request, after: .seconds(90), &keys)
    return next
  }

  private func value(_ name: String, _ hop: RedirectPolicy.Hop?) -> String? {
    hop?.headers.first { $0.name == name }?.value
  }

  @Test func aRedirectWithinTheOriginIsSignedAgain() throws {
    let request = request()
    let first = try hop(request)
    #expect(
      first.headers.map(\.name) == [
        "Authorization", "X-Amz-Security-Token", "X-Amz-Date", "X-Amz-Content-Sha256",
      ])
    let next = try followed("/y", request, .refuse)
    #expect(next?.headers.count == 4)
    #expect(
      value("X-Amz-Date", first) == "20130524T000000Z" && value("X-Amz-Date", next) == "20130524T000130Z")
    #expect(value("Authorization", next) != value("Authorization", first))
  }

  @Test func aSignatureDoesNotCrossOrigins() throws {
    #expect(try followed("https://b.example/y", request(), .refuse) == nil)
    #expect(try followed("https://b.example/y", request(), .strip)?.headers == [])
    let followed = try followed("https://b.example/y", request(), .follow)
    #expect(followed?.headers.count == 4)
    #expect(value("Authorization", followed) != value("Authorization", try hop(request())))
  }

  @Test func aSessionsSignatureReachesTheSessionsOrigins() throws {
    var request = request(.session)
    request.sensitive.known.session.origins = [Origin(scheme: "https", host: "b.example", port: 443)]
    #expect(try followed("https://b.example/y", request, .refuse)?.headers.count == 4)
    #expect(try followed("https://c.example/y", request, .refuse) == nil)
  }

  @Test func aPresignedURLIsNotSigned() throws {
    #expect(try followed("/y?X-Amz-Signature=00", request(), .refuse)?.headers == [])
  }
}
