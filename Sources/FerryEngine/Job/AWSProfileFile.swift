import FerryManifest
import Foundation

/// A file with profiles, such as `~/.aws/credentials` ("Configuration and credential file settings" in the AWS CLI
/// User Guide).
struct AWSProfileFile {
  struct Profile {
    /// The line of the profile's heading.
    var line: Int
    var settings: [String: Setting] = [:]
  }

  struct Setting {
    var value: String
    var line: Int
  }

  /// The maximum size of a file in bytes.
  private static let limit = 1 << 20

  let path: String
  private(set) var profiles: [String: Profile] = [:]

  /// Returns `nil` if the file does not exist.
  ///
  /// - Parameter isConfig: whether the headings of profiles other than `default` begin with `profile`, and other
  ///   headings are ignored.
  init?(_ path: String, isConfig: Bool) throws(UsageError) {
    self.path = path
    let bytes: [UInt8]
    do throws(FileContents.Failure) {
      bytes = try FileContents(path).bytesOfRegularFile(limit: Self.limit, isOwn: true)
    } catch {
      guard error.code != ENOENT, error.code != ENOTDIR else { return nil }
      throw UsageError("the AWS profiles cannot be read from \(path): \(error.reason)")
    }
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw UsageError("the AWS profiles cannot be read from \(path): it is not UTF-8")
    }
    try read(text, isConfig: isConfig)
  }

  private mutating func read(_ text: String, isConfig: Bool) throws(UsageError) {
    /// The current profile; `nil` in a section that is ignored.
    var profile: String?
    var isInSection = false
    for (index, bytes) in text.utf8.split(separator: 0x0A, omittingEmptySubsequences: false).enumerated() {
      let line = index + 1
      let written = String(Substring(bytes))
      let content = written.trimmingCharacters(in: .whitespacesAndNewlines)
      guard let first = content.utf8.first, first != UInt8(ascii: "#"), first != UInt8(ascii: ";") else {
        continue
      }
      if first == UInt8(ascii: "[") {
        profile = try name(content, isConfig: isConfig, at: line)
        isInSection = true
        if let profile, profiles[profile] == nil { profiles[profile] = Profile(line: line) }
        continue
      }
      guard isInSection else {
        throw failure(
          "a setting before the first heading; put it below a heading such as '[default]'", at: line)
      }
      // An indented line continues the setting above it. None of the settings that ferry reads has such
      // lines.
      guard written.utf8.first != 0x20, written.utf8.first != 0x09 else { continue }
      guard let equals = content.utf8.firstIndex(of: UInt8(ascii: "=")) else {
        throw failure("a line without '='; write settings as 'name = value'", at: line)
      }
      guard let profile else { continue }
      let key = content[..<equals].trimmingCharacters(in: .whitespaces).lowercased()
      let value = content[content.utf8.index(after: equals)...].trimmingCharacters(in: .whitespaces)
      profiles[profile]?.settings[key] = Setting(value: value, line: line)
    }
  }

  /// The name of the profile in a heading; `nil` for a section that is not a profile.
  private func name(_ heading: String, isConfig: Bool, at line: Int) throws(UsageError) -> String? {
    guard let end = heading.utf8.firstIndex(of: UInt8(ascii: "]")) else {
      throw failure("a heading without ']'; write a heading such as '[default]'", at: line)
    }
    let inside = heading[heading.utf8.index(after: heading.startIndex)..<end]
      .trimmingCharacters(in: .whitespaces)
    guard isConfig, inside != "default" else { return inside }
    let words = inside.split(maxSplits: 1, whereSeparator: { $0 == " " || $0 == "\t" })
    guard words.count == 2, words[0] == "profile" else { return nil }
    return words[1].trimmingCharacters(in: CharacterSet(charactersIn: " \t\"'"))
  }

  /// The value of a setting; `nil` if the profile does not set it.
  func value(_ key: String, of profile: String) throws(UsageError) -> String? {
    guard let setting = profiles[profile]?.settings[key] else { return nil }
    guard AWSValue.isValid(setting.value) else {
      throw failure(
        "the value of \(key) is empty or contains a space or another invalid character", at: setting.line)
    }
    return setting.value
  }

  func failure(_ problem: String, at line: Int) -> UsageError { UsageError("\(path):\(line): \(problem)") }
}
