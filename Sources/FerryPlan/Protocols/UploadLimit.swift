/// The limits of a resumable upload that a server states in `Upload-Limit`.
package struct UploadLimit: Hashable, Sendable {
  /// The maximum size of a file, in bytes; `nil` if the server states none.
  package var maxSize: Int64?
  /// The maximum number of bytes in a request.
  package var maxAppendSize: Int64?
  /// The minimum number of bytes in a request that does not complete the upload.
  package var minAppendSize: Int64?
  /// The time for which the upload resource remains available, in seconds from the response.
  package var maxAge: Int64?

  package init(
    maxSize: Int64? = nil, maxAppendSize: Int64? = nil, minAppendSize: Int64? = nil, maxAge: Int64? = nil
  ) {
    self.maxSize = maxSize
    self.maxAppendSize = maxAppendSize
    self.minAppendSize = minAppendSize
    self.maxAge = maxAge
  }

  /// Reads the values of the `Upload-Limit` fields; `nil` if there are none, or if they must be ignored
  /// because they are malformed or one of the known limits is not a non-negative integer.
  init?(fields: [String]) {
    guard !fields.isEmpty, let members = StructuredField.dictionary(fields.joined(separator: ", ")) else {
      return nil
    }
    self.init()
    for (key, value) in members {
      let limit: WritableKeyPath<Self, Int64?>
      switch key {
      case "max-size": limit = \.maxSize
      case "max-append-size": limit = \.maxAppendSize
      case "min-append-size": limit = \.minAppendSize
      // Before interop version 7, `max-age` was called `expires`.
      case "max-age", "expires": limit = \.maxAge
      default: continue
      }
      guard case .integer(let number) = value, number >= 0 else { return nil }
      self[keyPath: limit] = number
    }
  }

  /// The number of bytes to send in the next request.
  ///
  /// - Parameters:
  ///   - chunkSize: the maximum that the manifest declares; `nil` for the whole rest of the file.
  ///   - remaining: the number of bytes that the server does not have yet.
  func length(chunkSize: Int64?, remaining: Int64) -> Int64 {
    let wanted = max(chunkSize ?? .max, minAppendSize ?? 0)
    return min(remaining, wanted, maxAppendSize ?? .max)
  }

  /// The reason why a file of this size cannot be sent within the limits; `nil` if the file can be sent.
  func conflict(size: Int64) -> String? {
    if let maxSize, size > maxSize {
      return
        "the server accepts files of at most \(maxSize) bytes (Upload-Limit: max-size), and this file has \(size)"
    }
    if let most = maxAppendSize, size > 0, most == 0 || (size - 1) / most >= Self.requestLimit {
      return
        "the server accepts at most \(most) bytes in a request (Upload-Limit: max-append-size), which would take more "
        + "than \(Self.requestLimit) requests for this file"
    }
    return nil
  }

  /// The maximum number of requests that a server can require for one file.
  private static let requestLimit: Int64 = 100_000
}
