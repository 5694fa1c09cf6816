import Foundation

/// Files with names and sizes that are easy to get wrong.
enum TestFiles {
  /// Writes them, and returns each one's content by its path; no two are the same.
  static func write(to folder: TemporaryFolder, under root: String) throws -> [String: Data] {
    var random = SplitMix(seed: 2026)
    var files: [String: Data] = [:]
    let names = [
      "a file with spaces.txt", "Grüße aus Köln.txt", "日本語/ファイル.bin", "emoji 🚢.bin", "percent %41 100%.txt",
      "question?.txt", "hash#tag.txt", "plus+and&and=.txt", "quote\"and'quote.txt", "semi;colon,comma.txt",
      "deep/er/and/deeper/still.txt", ".hidden", "back\\slash.txt", "brackets [1] {2} (3).txt",
      "dollar ${x}.txt",
      "tilde~at@colon:.txt",
    ]
    for (index, name) in names.enumerated() {
      files[name] = random.bytes(100 + index)
    }
    // 16 and 64 KiB are sizes of buffers along the way.
    for (index, size) in [1, 2, 1023, 1024, 1025, 16_383, 16_384, 16_385, 65_535, 65_536, 65_537].enumerated()
    {
      files["sizes/\(index)-\(size).bin"] = random.bytes(size)
    }
    files["empty.bin"] = Data()
    files["several megabytes.bin"] = random.bytes(5 << 20)
    for index in 0..<12 { files["many/\(index).bin"] = random.bytes(2000 + index) }
    for (name, content) in files { try folder.write(content, to: "\(root)/\(name)") }
    return files
  }

  /// SplitMix64 (Steele, Lea, Flood 2014): the same bytes for the same seed on every machine.
  private struct SplitMix {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
      state &+= 0x9E37_79B9_7F4A_7C15
      var mixed = state
      mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
      mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
      return mixed ^ (mixed >> 31)
    }

    mutating func bytes(_ count: Int) -> Data {
      var data = Data(capacity: count + 8)
      while data.count < count {
        withUnsafeBytes(of: next().littleEndian) { data.append(contentsOf: $0) }
      }
      return data.prefix(count)
    }
  }
}
