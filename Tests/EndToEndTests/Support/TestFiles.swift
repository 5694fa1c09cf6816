import Foundation

/// Files with names and sizes that programs often handle incorrectly.
enum TestFiles {
  /// Writes the files, and returns the content of each by its path. All contents are different.
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
    // Buffers in ferry and libcurl have sizes of 16 and 64 KiB.
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

  /// Writes this many small files, a few of which are empty, in folders of fifty. Returns their paths.
  static func writeMany(_ count: Int, to folder: TemporaryFolder, under root: String, seed: UInt64) throws
    -> [String]
  {
    var random = SplitMix(seed: seed)
    return try (0..<count).map { index in
      let name = "part \(index / 50)/\(index).bin"
      let size = index.isMultiple(of: 97) ? 0 : Int(random.next() % 3000)
      try folder.write(random.bytes(size), to: "\(root)/\(name)")
      return name
    }
  }

  /// Writes a file and its folders. Foundation's paths are text; these are bytes.
  static func write(_ content: Data, to path: [UInt8]) throws {
    var folder: [UInt8] = []
    for part in path.split(separator: 0x2F).dropLast() {
      folder += [0x2F] + part
      mkdir(folder.map { CChar(bitPattern: $0) } + [0], 0o777)
    }
    let file = open(path.map { CChar(bitPattern: $0) } + [0], O_WRONLY | O_CREAT | O_EXCL, 0o666)
    guard file >= 0 else { throw CommandFailure(description: "\(path): \(errno)") }
    try FileHandle(fileDescriptor: file, closeOnDealloc: true).write(contentsOf: content)
  }

  /// The SHA-256 digests of the files in lowercase hexadecimal, computed independently of ferry.
  static func digests(of names: [String], under root: String) async throws -> [String: String] {
    let command = try await Command.run(
      "openssl", ["dgst", "-sha256", "-r"] + names, in: URL(filePath: root))
    guard command.status == 0 else { throw CommandFailure(description: command.stderr) }
    // Each line has the form `HEX *NAME`.
    return Dictionary(
      uniqueKeysWithValues: command.stdout.split(separator: "\n").map {
        (String($0.dropFirst(66)), String($0.prefix(64)))
      })
  }
}
