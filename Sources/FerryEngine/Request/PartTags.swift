import FerryDigest
import FerryManifest
import FerryPlan

/// The part numbers of an S3 upload, with the ETag and checksum that the server returned for each part.
struct PartTags: Hashable, Sendable {
  struct Tag: Hashable, Sendable {
    var etag: String
    /// The checksum that the server returned; `nil` if it returned none.
    var checksum: PartChecksum?
  }

  /// The tags by the numbers of their parts.
  private(set) var tags: [Int: Tag] = [:]

  init() {}

  var count: Int { tags.count }

  mutating func set(_ tag: Tag, of number: Int) { tags[number] = tag }

  // MARK: In the journal

  /// One line for each part, with its number, its ETag, and the algorithm and value of its checksum if it has one,
  /// separated by spaces.
  var text: String {
    tags.sorted { $0.key < $1.key }.map { number, tag in
      let checksum = tag.checksum.map { " \($0.algorithm.rawValue) \($0.value)" } ?? ""
      return "\(number) \(tag.etag)\(checksum)\n"
    }.joined()
  }

  /// Reads the lines of `text`; `nil` if a line is malformed.
  init?(text: String) {
    for line in text.split(separator: "\n") {
      let columns = line.split(separator: " ").map { String($0) }
      guard columns.count == 2 || columns.count == 4, let number = Int(columns[0]), number >= 1 else {
        return nil
      }
      var tag = Tag(etag: columns[1])
      if columns.count == 4 {
        guard let algorithm = Upload.Transfer.Checksum(rawValue: columns[2]) else { return nil }
        tag.checksum = PartChecksum(algorithm, columns[3])
      }
      tags[number] = tag
    }
  }

  // MARK: In requests and responses

  /// The body of `CompleteMultipartUpload`.
  var completion: [UInt8] {
    var bytes = Array("<CompleteMultipartUpload xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">".utf8)
    for (number, tag) in tags.sorted(by: { $0.key < $1.key }) {
      bytes += "<Part><PartNumber>\(number)</PartNumber><ETag>".utf8
      for byte in tag.etag.utf8 {
        switch byte {
        case UInt8(ascii: "&"): bytes += "&amp;".utf8
        case UInt8(ascii: "<"): bytes += "&lt;".utf8
        case UInt8(ascii: ">"): bytes += "&gt;".utf8
        case UInt8(ascii: "\""): bytes += "&quot;".utf8
        default: bytes.append(byte)
        }
      }
      bytes += "</ETag>".utf8
      if let checksum = tag.checksum {
        let element = checksum.algorithm.elementInS3
        bytes += "<\(element)>\(checksum.value)</\(element)>".utf8
      }
      bytes += "</Part>".utf8
    }
    bytes += "</CompleteMultipartUpload>".utf8
    return bytes
  }

  /// The ETag that Amazon S3 gives to an object consisting of these parts: the MD5 of the parts' MD5s,
  /// followed by the number of parts. `nil` if the ETag of a part is not an MD5.
  var objectETag: String? {
    var digests: [UInt8] = []
    for (_, tag) in tags.sorted(by: { $0.key < $1.key }) {
      guard let digest = Self.digest(of: tag.etag) else { return nil }
      digests += digest
    }
    return MD5.hash(digests).map { "\(Hexadecimal.text($0))-\(tags.count)" }
  }

  /// Whether an object with this ETag consists of these parts.
  func isETag(_ etag: String) -> Bool {
    guard let objectETag else { return false }
    return etag.utf8.filter { $0 != UInt8(ascii: "\"") }.elementsEqual(objectETag.utf8)
  }

  private static func digest(of etag: String) -> [UInt8]? {
    let digits = etag.utf8.filter { $0 != UInt8(ascii: "\"") }
    guard digits.count == 32 else { return nil }
    var bytes: [UInt8] = []
    for index in stride(from: 0, to: 32, by: 2) {
      guard let high = Hexadecimal.value(digits[index]), let low = Hexadecimal.value(digits[index + 1]) else {
        return nil
      }
      bytes.append(high << 4 | low)
    }
    return bytes
  }
}

extension CapturedValue {
  /// Whether the value is the list of an upload's parts, which ferry itself has recorded.
  var isListOfParts: Bool {
    name == RequestTemplate.partsCapture && value.hasSuffix("\n") && PartTags(text: value) != nil
  }
}
