import FerryDigest

/// The differences between the request of an operation and the request that the manifest declares for the whole
/// file.
package struct OperationRequest: Hashable, Sendable {
  package struct Field: Hashable, Sendable {
    package var name: String
    package var value: String

    package init(name: String, value: String) {
      self.name = name
      self.value = value
    }
  }

  /// A header field whose value is a prefix and the checksum of the request's bytes in Base64.
  package struct Checksum: Hashable, Sendable {
    package var field: String
    package var prefix: String
    package var algorithm: DigestAlgorithm
  }

  /// The method; `nil` for the method of the declared request.
  package var method: String?
  /// Header fields. Each replaces the declared fields of the same name.
  package var fields: [Field] = []
  /// Whether the upload ID is added to the query of the URL, as `uploadId`.
  package var usesUploadID = false
  /// Parameters that are added to the query of the URL.
  package var query: [Field] = []
  /// Whether the declared header fields that describe an object are omitted.
  package var leavesOutObjectFields = false
  /// The checksum of the bytes that the request sends; `nil` for none.
  package var checksum: Checksum?
  /// Whether the request goes to the upload resource that the server has assigned. Such a request has no
  /// fields that describe the file.
  package var isForResource = false
  /// Whether a 308 response states an offset and is not a redirect.
  package var keeps308 = false

  mutating func set(_ name: String, _ value: String) { fields.append(Field(name: name, value: value)) }
}

/// A response to an operation.
package protocol OperationResponse {
  var status: Int { get }
  /// The values of all header fields with this name. The name is case-insensitive.
  func values(of field: String) -> [String]
  /// The array of strings at this JSON pointer in the body.
  func strings(at pointer: String) -> StringArray
  /// The code in the body of an S3 error; `nil` for any other body.
  var s3ErrorCode: String? { get }
  /// The list of parts in the body of an S3 response; `nil` for any other body.
  var listedParts: PartList? { get }
  /// The string at this JSON pointer in the body; `nil` if there is none.
  func string(at pointer: String) -> String?
}

/// One page of the parts that an S3 server has.
package struct PartList: Hashable, Sendable {
  package struct Part: Hashable, Sendable {
    package var number: Int
    /// The size of the part in bytes.
    package var size: Int64
    package var etag: String
    package var checksum: PartChecksum?

    package init(number: Int, size: Int64, etag: String, checksum: PartChecksum? = nil) {
      self.number = number
      self.size = size
      self.etag = etag
      self.checksum = checksum
    }
  }

  package var parts: [Part]
  /// The number after which the next page begins; `nil` on the last page.
  package var next: Int?

  package init(parts: [Part], next: Int?) {
    self.parts = parts
    self.next = next
  }
}

/// An array of strings in the body of a response.
package enum StringArray: Hashable, Sendable {
  case absent
  /// The value is not an array of strings.
  case malformed
  /// The body is too large to be searched for the value.
  case tooLarge
  case listed([String])
}

/// The information about a transfer in the response to an operation.
package enum TransferReading: Hashable, Sendable {
  /// The server has this number of bytes from the start of the file.
  case offset(Int64)
  /// The server has stored the part that was sent, under this ETag and with this checksum.
  case part(etag: String, PartChecksum?)
  /// The server has these parts.
  case parts(PartList)
  /// The response should state an offset or a part, but does not.
  case malformed(String)
  /// The response shows that the upload does not belong to the file, and perhaps belongs to another file.
  case foreign(String)
  /// The server has stored bytes other than those that were sent. After a wait, the bytes are sent again.
  case damaged(String)
  /// The server does not accept the request at present, or has a different offset. After a wait, the server
  /// is asked for its offset.
  case refused
  /// The server no longer has the upload.
  case gone
  /// The response ends the upload, possibly with an error: the server no longer continues the upload.
  case completed
  /// The server completed the upload earlier, and does not repeat its response.
  case completedEarlier
  /// The server refers the request to another URL, or challenges it for credentials, although it has assigned an upload
  /// resource to it. It has not executed the request.
  case referred
  /// The response is judged like the response to any other request. If it is a success, it completes the
  /// upload.
  case other

  /// The offset, if the response states one.
  package var offset: Int64? { if case .offset(let offset) = self { offset } else { nil } }
}
