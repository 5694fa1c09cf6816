import FerryManifest

/// The user names and passwords of a netrc file, as curl(1) reads it.
package struct Netrc: Sendable {
  struct Entry: Equatable, Sendable {
    /// In lowercase; `nil` for the entry `default`.
    var host: String?
    var user: String?
    var password: SensitiveValue?
  }

  let entries: [Entry]

  init(_ bytes: [UInt8]) {
    var reader = Reader(rest: bytes[...])
    entries = reader.entries()
  }

  /// The user and password for a host; `nil` if the file has none.
  func entry(for host: String) -> Entry? {
    entries.first { ($0.host == nil || $0.host == host.lowercased()) && $0.user != nil }
  }

  private struct Reader {
    var rest: ArraySlice<UInt8>

    mutating func entries() -> [Entry] {
      var all: [Entry] = []
      while let word = word() {
        switch word {
        case "machine": all.append(Entry(host: self.word()?.lowercased()))
        case "default": all.append(Entry())
        case "macdef": skipMacro()
        case "login":
          let user = self.word()
          if !all.isEmpty { all[all.count - 1].user = user }
        case "password":
          let password = self.word().map(SensitiveValue.init)
          if !all.isEmpty { all[all.count - 1].password = password }
        case "account": _ = self.word()
        default: break
        }
      }
      return all
    }

    /// The next word, which may be in double quotes. A word that begins with `#` begins a comment.
    private mutating func word() -> String? {
      rest = rest.drop(while: \.isSpace)
      while rest.first == UInt8(ascii: "#") {
        rest = rest.drop { $0 != UInt8(ascii: "\n") }.drop(while: \.isSpace)
      }
      guard let first = rest.first else { return nil }
      guard first == UInt8(ascii: "\"") else {
        let word = rest.prefix { !$0.isSpace }
        rest = rest[word.endIndex...]
        return String(decoding: word, as: UTF8.self)
      }
      rest.removeFirst()
      var text: [UInt8] = []
      while let byte = rest.popFirst(), byte != UInt8(ascii: "\"") {
        guard byte == UInt8(ascii: "\\"), let escaped = rest.popFirst() else {
          text.append(byte)
          continue
        }
        switch escaped {
        case UInt8(ascii: "n"): text.append(0x0A)
        case UInt8(ascii: "r"): text.append(0x0D)
        case UInt8(ascii: "t"): text.append(0x09)
        default: text.append(escaped)
        }
      }
      return String(decoding: text, as: UTF8.self)
    }

    /// A macro ends with an empty line.
    private mutating func skipMacro() {
      while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
        rest = rest[(end + 1)...]
        if rest.first == UInt8(ascii: "\n") || rest.starts(with: [0x0D, 0x0A]) { return }
      }
      rest = []
    }
  }
}

extension UInt8 {
  fileprivate var isSpace: Bool { self == 0x20 || (0x09...0x0D).contains(self) }
}
