import Foundation

/// A folder for one test, removed when this object is released.
final class TestFolder {
  let path: String

  init() throws {
    path = FileManager.default.temporaryDirectory.path + "/ferry-" + UUID().uuidString
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  /// If this fails, the system removes the folder later.
  deinit { try? FileManager.default.removeItem(atPath: path) }

  /// Creates a file of this size in bytes, and its parent folders.
  func file(_ name: [UInt8], size: Int = 1) {
    for (index, byte) in name.enumerated() where byte == 0x2F {
      _ = mkdir(terminated(Array(name[..<index])), 0o755)
    }
    guard let file = fopen(terminated(name), "w") else { return }
    for _ in 0..<size { fputc(0x78, file) }
    fclose(file)
  }

  func file(_ name: String, size: Int = 1) { file(Array(name.utf8), size: size) }

  func link(_ name: String, to target: String) { _ = symlink(target, "\(path)/\(name)") }

  private func terminated(_ name: [UInt8]) -> [CChar] {
    (Array(path.utf8) + [0x2F] + name).map { CChar(bitPattern: $0) } + [0]
  }
}
