import Testing

@testable import FerryTransfer

@Suite struct `A WWW-Authenticate field` {
  private func challenges(_ values: String...) -> [AuthenticationChallenge] {
    AuthenticationChallenge.all(in: values.map { ("WWW-Authenticate", $0) })
  }

  @Test func `may have several challenges, in one field or in several`() {
    let expected = [
      AuthenticationChallenge(
        scheme: "newauth", parameters: ["realm": "apps", "type": "1", "title": "Login to \"apps\""]),
      AuthenticationChallenge(scheme: "basic", parameters: ["realm": "simple"]),
    ]
    // RFC 9110, section 11.6.1
    let first = #"Newauth realm="apps", type=1, title="Login to \"apps\"""#
    #expect(challenges(first + #", Basic realm="simple""#) == expected)
    #expect(challenges(first, #"Basic realm="simple""#) == expected)
  }

  @Test func `may have data instead of parameters`() {
    #expect(
      challenges("Negotiate, NTLM TlRMTVNTUAAC==, Basic realm=x").map(\.scheme) == [
        "negotiate", "ntlm", "basic",
      ])
    #expect(challenges("Bearer").map(\.scheme) == ["bearer"])
  }

  @Test(arguments: [
    "", ",,,", "\"", "Basic realm=\"open", "=", "Basic =x", "Basic realm=", "a=b=c, d==", "\u{1}\u{2}",
  ])
  func `of any other form does not stop the reader`(_ value: String) {
    #expect(challenges(value).count <= 3)
  }

  @Test func `is read within limits`() {
    #expect(challenges(String(repeating: "Basic, ", count: 10_000)).count == 32)
    let parameters = (0..<10_000).map { "p\($0)=x" }.joined(separator: ", ")
    #expect(challenges("Digest " + parameters).first?.parameters.count == 32)
  }
}

@Suite struct `The answer to a Digest challenge` {
  private func challenge(_ text: String) -> DigestChallenge? {
    AuthenticationChallenge.all(in: [("WWW-Authenticate", text)]).first.flatMap(DigestChallenge.init)
  }

  /// RFC 7616, section 3.9.1.
  @Test(arguments: [
    ("MD5", "8ca523f5e9506fed4657c9700eebdbec"),
    ("SHA-256", "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1"),
  ])
  func `is that of the RFC`(_ algorithm: String, _ response: String) throws {
    var digest = try #require(
      challenge(
        """
        Digest realm="http-auth@example.org", qop="auth, auth-int", algorithm=\(algorithm), \
        nonce="7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v", opaque="FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS"
        """))
    let answer =
      digest.answer(
        user: "Mufasa", password: "Circle of Life", method: "GET", target: "/dir/index.html",
        clientNonce: "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ") ?? ""
    #expect(answer.contains("response=\"\(response)\""), "\(answer)")
    #expect(answer.contains("nc=00000001"))
    #expect(answer.contains("opaque=\"FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS\""))
    let next = digest.answer(user: "Mufasa", password: "", method: "GET", target: "/", clientNonce: "x") ?? ""
    #expect(next.contains("nc=00000002"))
  }

  @Test func `is not given if the server requires what is not supported`() {
    #expect(challenge(#"Digest realm="r", nonce="n", algorithm=SHA-512-256"#) == nil)
    #expect(challenge(#"Digest realm="r", nonce="n", qop="auth-int""#) == nil)
    #expect(challenge(#"Digest realm="r""#) == nil)
    #expect(challenge(#"Basic realm="r", nonce="n""#) == nil)
    #expect(challenge("Digest realm=\"r\", nonce=\"\(String(repeating: "n", count: 5000))\"") == nil)
  }

  @Test func `quotes what the server chose`() throws {
    var digest = try #require(challenge(#"Digest realm="a \"b\\", nonce="n", userhash=true"#))
    let answer = digest.answer(user: "u", password: "p", method: "GET", target: "/\"", clientNonce: "x") ?? ""
    #expect(answer.contains(#"realm="a \"b\\""#), "\(answer)")
    #expect(answer.contains(#"uri="/\"""#))
    #expect(!answer.contains("username=\"u\""))
  }
}
