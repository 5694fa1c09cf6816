import FerryManifest
import Testing

@testable import FerryEngine

@Suite struct `A netrc file` {
  private func entry(_ text: String, _ host: String) -> (user: String?, password: String?)? {
    Netrc(Array(text.utf8)).entry(for: host).map { ($0.user, $0.password?.revealed) }
  }

  private static let text = """
    # machine a login no password no
    machine a.example.com login "first last" password "say \\"hi\\\\" account x
    macdef init
      machine b.example.com login macro password macro

    machine B.example.com
      login b
      password p#1
    machine c.example.com password only
    default login anyone
    """

  @Test func `has the first entry of a host`() throws {
    let a = try #require(entry(Self.text, "a.example.com"))
    #expect(a == ("first last", "say \"hi\\"))
    #expect(try #require(entry(Self.text, "b.example.com")) == ("b", "p#1"))
  }

  @Test func `has a default for other hosts, and for those without a user`() throws {
    #expect(try #require(entry(Self.text, "c.example.com")) == ("anyone", nil))
    #expect(try #require(entry(Self.text, "other")) == ("anyone", nil))
    #expect(entry("machine x login u password p", "other") == nil)
  }

  @Test func `may have many comments`() throws {
    let text = String(repeating: "#\n", count: 500_000) + "default login u password p"
    #expect(try #require(entry(text, "a")) == ("u", "p"))
  }

  @Test(arguments: ["", "machine", "login x", "\"", "macdef a", "password", "machine a login", "default"])
  func `may be incomplete`(_ text: String) {
    #expect(entry(text, "a") == nil)
  }
}
