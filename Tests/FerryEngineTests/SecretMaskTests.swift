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

  @Test func aSecretInsideBasicAuthorizationIsMasked() {
    // ferry:correct horse battery
    let text = "Basic ZmVycnk6Y29ycmVjdCBob3JzZSBiYXR0ZXJ5"
    #expect(SecretMask(["correct horse battery"]).mask(text).contains("***"))
  }

  @Test func aQuotedSecretIsMaskedAndTheLongestWins() {
    #expect(SecretMask(["a\"b\nc"]).mask(#"{"x":"a\"b\nc"}"#) == #"{"x":"***"}"#)
    #expect(SecretMask(["abc", "abcdef"]).mask("abcdef abc") == "*** ***")
  }

  @Test func shortSecretsAreLeftAndRemovedOnesForgotten() {
    var mask = SecretMask(["ab"])
    #expect(mask.mask("ab") == "ab")
    mask.insert("token1")
    #expect(mask.mask("token1") == "***")
    mask.remove("token1")
    #expect(mask.mask("token1") == "token1")
  }
}
