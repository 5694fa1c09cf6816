/// A request body that consists of a file and, for a form, of the bytes before and after it.
package struct FileBody: Sendable {
  package var source: TransferRequest.FileSource
  /// The bytes before the file.
  package var prefix: [UInt8]
  /// The bytes after the file.
  package var suffix: [UInt8]

  package init(_ source: TransferRequest.FileSource, prefix: [UInt8] = [], suffix: [UInt8] = []) {
    self.source = source
    self.prefix = prefix
    self.suffix = suffix
  }

  /// The size of the body in bytes.
  var size: Int64 { Int64(prefix.count) + source.length + Int64(suffix.count) }

  /// The part of the body that contains a byte.
  enum Part: Equatable {
    /// The rest of `prefix`, from this index.
    case prefix(Int)
    /// The rest of the file, from this offset.
    case file(Int64)
    /// The rest of `suffix`, from this index.
    case suffix(Int)
    case end
  }

  func part(at offset: Int64) -> Part {
    let fileOffset = offset - Int64(prefix.count)
    if fileOffset < 0 { return .prefix(Int(offset)) }
    if fileOffset < source.length { return .file(fileOffset) }
    let suffixOffset = fileOffset - source.length
    return suffixOffset < Int64(suffix.count) ? .suffix(Int(suffixOffset)) : .end
  }

  /// The number of file bytes among the first `sent` bytes of the body.
  func fileBytes(in sent: Int64) -> Int64 { min(max(sent - Int64(prefix.count), 0), source.length) }
}
