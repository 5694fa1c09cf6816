import Foundation
import Testing

@testable import FerryEngine

struct SecretMaskTests {
  @Test(arguments: [
    ("a p@ss/w+rd? b", "a *** b"), ("p%40ss%2Fw%2Brd%3F", "***"), ("p%40ss%2fw%2brd%3f", "***"),
    ("p%40ss/w%2Brd?", "***"), ("x cEBzcy93K3JkPw== y", "x *** y"), ("cEBzcy93K3JkPw", "***"),
    ("cEBzcy93K3JkPw%3D%3D", "***"), ("nothing here", "nothing here"), ("p@ss", "p@ss"),
    ("100% p%4", "100% p%4"),
  ]) func everyFormIsMasked(_ text: String, _ masked: String) {
    #expect(SecretMask(["p@ss/w+rd?"]).mask(text) == masked)
  }

  @Test func spacesAreFoundAsPlusAndPercent() {
    let mask = SecretMask([" my key"])
    #expect(mask.mask("k=+my+key&l=%20my%20key, my key") == "k=***&l=***,***")
  }

  @Test func longSecretsAreFoundInEveryForm() {
    let secret = "a secret + with blanks/and more than 32 bytes?"
    let mask = SecretMask([secret])
    let encoded = "a%20secret%20%2B%20with%20blanks%2fand%20more%20than%2032%20bytes%3F"
    let query = "a+secret+%2B+with+blanks/and+more+than+32+bytes?"
    for form in [secret, encoded, query] {
      #expect(mask.mask(form) == "***")
      #expect(mask.mask("x\(form)y\(form)%20z") == "x***y***%20z")
    }
    #expect(mask.mask(String(secret.dropLast())) == String(secret.dropLast()))
    let base64 = Data("user:\(secret)".utf8).base64EncodedString()
    #expect(mask.mask("Basic \(base64)").contains("***"))
    var other = mask
    other.retire(secret)
    #expect(other.mask(secret, .wholeSecretsInUse) == secret)
    for form in [secret, encoded, query] { #expect(other.mask("x\(form)y\(form)%20z") == "x***y***%20z") }
    #expect(other.mask("Basic \(base64)") == mask.mask("Basic \(base64)"))
  }

  /// If overlapping secrets were masked separately, masking one could leave a part of the other visible.
  @Test func secretsThatOverlapAreMaskedTogether() {
    #expect(SecretMask(["//s3", "s3cretvalue"]).mask("http://s3cretvalue/x") == "http:***/x")
    #expect(SecretMask(["abcd", "cdef", "efgh"]).mask("xabcdefghx") == "x***x")
    let long = String(repeating: "ab", count: 20)
    #expect(SecretMask([long]).mask("x" + long + "abab" + "y") == "x***y")
    #expect(SecretMask([long, "yz12"]).mask(long + "yz12") == "******")
  }

  @Test func oneSecretMayBeAPrefixOfAnother() {
    let mask = SecretMask(["tok", "token", "token-1", "tokyo"])
    #expect(mask.mask("tok token token-1 tokyo toke to") == "*** *** *** *** ***e to")
    var fewer = mask
    fewer.retire("token")
    #expect(fewer.mask("token-1 token", .wholeSecretsInUse) == "*** ***en")
    #expect(fewer.mask("token-1 token") == "*** ***")
  }

  /// The time for each byte of the text does not depend on the number of secrets.
  @Test func manySecretsWithOnePrefixAreMaskedQuickly() {
    let secrets = (0..<3000).map { "hhhhhhhhhhhhhhhhhhhhhhhhh" + String($0, radix: 36) }
    let mask = SecretMask(secrets)
    let text = String(repeating: "h", count: 25_000)
    let times = [SecretMask(Array(secrets.prefix(30))), mask].map { mask in
      ThreadTime.measure { _ = mask.mask(text) }
    }
    // A comparison with each secret would take a hundred times as long.
    #expect(times[1] < times[0] * 20 + .milliseconds(100), "\(times)")
    #expect(mask.mask("x \(secrets[2999]) y") == "x *** y")
  }

  /// A server may choose a token of one letter, and also a captured text that repeats this letter.
  @Test func maskingTakesLinearTime() {
    let texts = [60_000, 240_000].map { String(repeating: "a", count: $0) }
    for end in ["", "b"] {
      let mask = SecretMask([String(repeating: "a", count: 30_000) + end])
      let times = texts.map { text in ThreadTime.measure { _ = mask.mask(text) } }
      // The second text is four times as long as the first. A quadratic search would take 16 times as long.
      #expect(times[1] < times[0] * 10 + .milliseconds(100), "\(times)")
    }
  }

  @Test func aSecretInsideBasicAuthorizationIsMasked() {
    // The Base64 text contains `ferry:correct horse battery`.
    let text = "Basic ZmVycnk6Y29ycmVjdCBob3JzZSBiYXR0ZXJ5"
    #expect(SecretMask(["correct horse battery"]).mask(text).contains("***"))
  }

  @Test func aQuotedSecretIsMaskedAndTheLongestWins() {
    #expect(SecretMask(["a\"b\nc"]).mask(#"{"x":"a\"b\nc"}"#) == #"{"x":"***"}"#)
    #expect(SecretMask(["abc", "abcdef"]).mask("abcdef abc") == "*** ***")
  }

  /// Go's encoder escapes `&`, `<` and `>`; Python's escapes all non-ASCII characters; PHP's escapes the slash.
  @Test(arguments: [
    #"pass\u0026w/\u003CSchl\u00fcssel\u003e"#, #"pass\u0026w\/<Schl\u00FCssel>"#, #"pass&w/<Schlüssel>"#,
    #"\u0070\u0061ss&w/\u003cSchlüssel\u003E"#, #"pass\\u0026w\\\/\\u003cSchl\\u00fcssel\\u003e"#,
    #"pass%5Cu0026w%2f%3CSchl%5cu00fcssel%3E"#, #"pass\u0025\u0032\u0036w\/%3CSchl%C3%BCssel%3E"#,
  ]) func theEscapesOfEveryJSONEncoderAreMasked(_ form: String) {
    let mask = SecretMask(["pass&w/<Schlüssel>"])
    #expect(
      mask.mask(#"{"error":"bad key \#(form)","path":"C:\\x"}"#) == #"{"error":"bad key ***","path":"C:\\x"}"#
    )
  }

  @Test func escapesOutsideOfAPlaneAndInvalidOnesAreReadAsJSONDoes() {
    let mask = SecretMask(["key🔑end"])
    #expect(mask.mask(#"x key\ud83d\udd11end y"#) == "x *** y")
    for text in [
      #"key\ud83dend"#, #"key\ud83d\u0041end"#, #"key\ud83d\udd1"#, #"key\u"#, #"key\"#, #"\q key"#,
    ] {
      #expect(mask.mask(text) == text)
    }
  }

  @Test func escapesAreMaskedInLinearTime() {
    let secret = String(repeating: "&", count: 10_000)
    let text = String(repeating: #"%5cu0026\u0026"#, count: 4_000)
    let time = ThreadTime.measure { _ = SecretMask([secret]).mask(text) }
    #expect(time < .seconds(20), "\(time)")
  }

  @Test func shortSecretsAreNotMasked() {
    var mask = SecretMask(["ab"])
    #expect(mask.mask("ab") == "ab")
    mask.retire("ab")
    #expect(mask.mask("ab") == "ab")
  }

  @Test func aSecretIsMaskedAfterItsLastUse() {
    var mask = SecretMask(["token1", "token1"])
    mask.retire("token1")
    #expect(mask.mask("token1", .wholeSecretsInUse) == "***")
    mask.retire("token1")
    #expect(mask.mask("token1", .wholeSecretsInUse) == "token1")
    #expect(mask.mask("a token1, dG9rZW4x") == "a ***, ***")
    mask.add(filters: [[.lower]])
    #expect(mask.mask("a token1, dG9rZW4x") == "a ***, ***")
    mask.insert("token1")
    #expect(mask.mask("token1", .wholeSecretsInUse) == "***")
  }

  /// Go writes `&#34;` and `&#39;`, Python `&quot;` and `&#x27;`, PHP `&quot;` and `&#039;`, others `&apos;`.
  @Test(arguments: [
    "p&amp;s&quot;s&#39;&lt;ö&gt;d", "p&amp;s&#34;s&#039;&lt;ö&gt;d",
    "p&#38;s&#x22;s&#x27;&#60;&#246;&#X3E;d",
    "p&amp;s\"s&apos;<ö>d", "p&amp;amp;s&amp;quot;s&amp;#39;&amp;lt;ö&amp;gt;d",
    "p%26amp%3Bs%26quot%3Bs%26%2339%3B%26lt%3B%C3%B6%26gt%3Bd", #"p\u0026amp;s\u0026#34;s'\u003c\u00f6&gt;d"#,
  ]) func theCharacterReferencesOfHTMLAreMasked(_ form: String) {
    let mask = SecretMask(["p&s\"s'<ö>d"])
    #expect(mask.mask("<p>no &amp; \(form) &lt;/p>") == "<p>no &amp; *** &lt;/p>")
  }

  @Test func invalidCharacterReferencesAreText() {
    let mask = SecretMask(["key&end"])
    for text in [
      "key&ampend", "key&amp", "key&#end", "key&#;end", "key&#x;end", "key&#xD800;end", "key&#1114112;end",
      "key&-38;end", "key&#-38;end", "key&#+38;end", "key&", "key&unknown;end", "key&0000000038;end",
    ] {
      #expect(mask.mask(text) == text)
    }
  }

  /// Error pages of servers and proxies quote the request-target or the path.
  @Test(arguments: [
    ("Cannot PUT /bucket/key?X-Sig=S1gnature%2B42&e=1", "Cannot PUT ***"),
    ("Cannot PUT /bucket/key?X-Sig=S1gnature%2B42&amp;e=1<br>", "Cannot PUT ***<br>"),
    (#"{"path":"\/bucket\/key?X-Sig=S1gnature%2B42\u0026e=1"}"#, #"{"path":"***"}"#),
    ("query X-Sig=S1gnature%2B42&e=1", "query ***"),
    ("signature S1gnature+42 is wrong", "signature *** is wrong"),
    ("signature S1gnature%2b42 is wrong", "signature *** is wrong"),
    ("http://storage.example.org/bucket/key?X-Sig=S1gnature%2B42&e=1", "***"),
    ("no object /bucket/key", "no object /bucket/key"), ("e=1", "e=1"),
  ]) func thePartsOfASecretURLAreMasked(_ text: String, _ masked: String) {
    let url = "http://Storage.example.org:80/bucket/key?X-Sig=S1gnature%2B42&e=1"
    var mask = SecretMask([url])
    #expect(mask.mask(text) == masked)
    #expect(mask.mask("S1gnature+42", .wholeSecretsInUse) == "S1gnature+42")
    mask.retire(url)
    #expect(mask.mask(text) == masked)
    var ambiguous = SecretMask()
    ambiguous.keepFingerprint(of: url)
    #expect(ambiguous.mask(text) == masked)
  }

  @Test(arguments: [
    ("https://x.org/services/T0/B0/XXTOKENXX", "/services/T0/B0/XXTOKENXX", "***"),
    ("https://x.org/hook/XYZ%20SECRET/", "/hook/XYZ SECRET/a", "***/a"),
    ("https://x.org/ab/cd/ef/gh/ij/k", "/ab/cd/ef/gh/ij/k", "***"),
    ("https://x.org/services/T0/B0/XXTOKENXX", "No resource services/T0/B0/XXTOKENXX.", "No resource ***."),
    ("https://x.org//services/T0/XXTOKENXX", "no services/T0/XXTOKENXX", "no ***"),
    ("https://ghp_0123456789abcdef:x-oauth@x.org/a", "ghp_0123456789abcdef, x-oauth", "***, ***"),
    ("https://alice:password@x.org/a", "alice: password", "alice: ***"),
    ("https://token123:@x.org/a", "not token123", "not ***"),
    ("https://x.org/ab?sig=S1gnature", "field ab?sig=S1gnature", "field ***"),
    ("https://user:pass@x.org:443/a", "https://x.org/a", "***"),
    ("https://user:p%40ssword@x.org/a", "not p@ssword or p%40ssword", "not *** or ***"),
    ("https://x.org/upload", "/upload", "/upload"),
    ("https://x.org/", "/", "/"), ("https://x.org/?abcdefgh", "field abcdefgh", "field ***"),
    ("ftp://x.org/services/XXTOKENXX", "/services/XXTOKENXX", "/services/XXTOKENXX"),
  ]) func aPathIsMaskedIfItIsLongEnough(_ url: String, _ text: String, _ masked: String) {
    #expect(SecretMask([url]).mask(text) == masked)
  }

  /// A server chooses the URL of an upload.
  @Test func theNumberOfPartsOfAURLIsLimited() {
    let fields = (900..<1_200).map { "f=value-\($0)" }.joined(separator: "&")
    let url = "https://x.org/?\(fields)&sig=the-longest-value"
    #expect(SecretURLParts(url).texts.count == 10)
    #expect(SecretMask([url]).mask("the-longest-value, value-1000, value-1199") == "***, ***, value-1199")
    #expect(SecretURLParts("https://x.org/" + String(repeating: "a", count: 20_000)).texts.isEmpty)
  }
}
