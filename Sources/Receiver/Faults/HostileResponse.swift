/// A response that a hostile or broken server could send. The raw value is its name in a fault.
///
/// FlyingFox cannot send most of these responses, so the front door writes their bytes itself. All of them
/// are generated piece by piece. An endless response ends when the client disconnects or the receiver stops.
package enum HostileResponse: String, Codable, CaseIterable, Sendable {
  // Redirects.
  case redirect
  case redirectLoop = "redirect-loop"
  case redirectToFileScheme = "redirect-to-file-scheme"
  case redirectToUserinfo = "redirect-to-userinfo"
  case duplicateLocation = "duplicate-location"
  case foreignURL = "foreign-url"
  case locationOfRequest = "location-of-request"

  // Unsolicited statuses.
  case partialContent = "partial-content"
  case notModified = "not-modified"
  case noContent = "no-content"
  case resetContent = "reset-content"
  case otherStatus = "other-status"

  // Validators that cannot be sent back.
  case etagControlCharacter = "etag-control-character"
  case etagNotASCII = "etag-not-ascii"
  case etagFolded = "etag-folded"
  case etagLong = "etag-long"
  case lastModifiedControlCharacter = "last-modified-control-character"

  // Truncated responses.
  case cutInStatusLine = "cut-in-status-line"
  case cutAfterStatusLine = "cut-after-status-line"
  case cutInHeaderLine = "cut-in-header-line"
  case cutInHeader = "cut-in-header"
  case cutAfterEarlyHints = "cut-after-early-hints"
  case cutInHeaderAfterEarlyHints = "cut-in-header-after-early-hints"
  case cutInBody = "cut-in-body"
  case cutInChunk = "cut-in-chunk"
  case cutBeforeLastChunk = "cut-before-last-chunk"

  // Slow responses.
  case silence
  case drip
  case dripHeader = "drip-header"

  // Floods.
  case endlessHeader = "endless-header"
  case manyHeaders = "many-headers"
  case longHeaderLine = "long-header-line"
  case longReasonPhrase = "long-reason-phrase"
  case earlyHints = "early-hints"
  case earlyHintsFlood = "early-hints-flood"
  case uploadResumptionFlood = "upload-resumption-flood"
  case endlessBody = "endless-body"
  case tinyChunks = "tiny-chunks"
  case endlessChunkExtension = "endless-chunk-extension"
  case endlessTrailer = "endless-trailer"

  // Unsolicited encodings.
  case contentEncodingGzip = "content-encoding-gzip"
  case contentEncodingNotGzip = "content-encoding-not-gzip"
  case transferEncodingGzip = "transfer-encoding-gzip"
  case transferEncodingNotGzip = "transfer-encoding-not-gzip"
  case transferEncodingUnknown = "transfer-encoding-unknown"
  case gzipBomb = "gzip-bomb"
  case transferEncodingGzipBomb = "transfer-encoding-gzip-bomb"

  // Invalid or contradictory framing.
  case wrongContentLength = "wrong-content-length"
  case conflictingContentLengths = "conflicting-content-lengths"
  case contentLengthAndChunked = "content-length-and-chunked"
  case malformedContentLength = "malformed-content-length"
  case hugeContentLength = "huge-content-length"
  case closeDelimited = "close-delimited"
  case secondResponse = "second-response"
  case lateResponse = "late-response"
  case http09 = "http-0.9"
  case garbage

  // Bodies that are expensive to read.
  case digits
  case nestedJSON = "nested-json"
  case nestedXML = "nested-xml"
  case manyValuesJSON = "many-values-json"
  case manyKeysJSON = "many-keys-json"
  case hugeNumberJSON = "huge-number-json"
  case hugeCapture = "huge-capture"

  /// A one-line description of the response.
  package var summary: String {
    switch self {
    case .redirect: "a redirect to location=, or without a Location field if none is given"
    case .redirectLoop: "a redirect to the requested URL"
    case .redirectToFileScheme: "a redirect to file:///etc/passwd"
    case .redirectToUserinfo:
      "a redirect to location= (or to the receiver) with a user name and password in the URL"
    case .duplicateLocation: "a redirect with two Location fields: the receiver's root, then location="
    case .foreignURL: "a 201 with location= in its Location field and in its JSON body, at /url"
    case .locationOfRequest:
      "a 201 whose Location is the requested URL, with fields of tus and of resumable uploads"
    case .partialContent: "a 206 with the first 10 of 1,000 bytes and an ETag"
    case .notModified: "a 304 with an ETag"
    case .noContent: "a 204 with an ETag"
    case .resetContent: "a 205 with an ETag"
    case .otherStatus: "any status from 100 to 999, including those that HTTP does not define"
    case .etagControlCharacter: "a 200 whose ETag contains a control character"
    case .etagNotASCII: "a 200 whose ETag contains bytes that are not UTF-8"
    case .etagFolded: "a 200 whose ETag continues on a second line (obs-fold)"
    case .etagLong: "a 200 with an ETag of size= bytes"
    case .lastModifiedControlCharacter: "a 200 whose Last-Modified contains a control character"
    case .cutInStatusLine: "the connection ends inside the status line"
    case .cutAfterStatusLine: "the connection ends after the status line"
    case .cutInHeaderLine: "the connection ends inside a header line, after an ETag"
    case .cutInHeader: "the connection ends after a complete ETag line, before the empty line"
    case .cutAfterEarlyHints: "the connection ends after a 103 response"
    case .cutInHeaderAfterEarlyHints:
      "the connection ends after a 103 response and the ETag line of the final response"
    case .cutInBody: "the connection ends after 100 of 1,000 announced bytes"
    case .cutInChunk: "the connection ends inside a chunk"
    case .cutBeforeLastChunk: "the connection ends after a complete chunk, without the last, empty chunk"
    case .silence: "nothing; the connection stays open"
    case .drip: "a 200 with a body of size= bytes, one byte every interval= seconds"
    case .dripHeader: "an endless header line, one byte every interval= seconds"
    case .endlessHeader: "endless header lines"
    case .manyHeaders: "a complete response with size= bytes of header lines"
    case .longHeaderLine: "a complete response with one header line of size= bytes"
    case .longReasonPhrase: "a complete response with a reason phrase of size= bytes"
    case .earlyHints: "ten 103 responses and then a complete 200"
    case .earlyHintsFlood: "an endless series of 103 responses"
    case .uploadResumptionFlood: "an endless series of 104 responses with the Location of an upload resource"
    case .endlessBody: "an endless chunked body"
    case .tinyChunks: "an endless chunked body, in chunks of one byte"
    case .endlessChunkExtension: "an endless chunk-size line"
    case .endlessTrailer: "a chunked body with endless trailer lines"
    case .contentEncodingGzip: "a gzip-compressed body with Content-Encoding: gzip"
    case .contentEncodingNotGzip: "a plain body with Content-Encoding: gzip"
    case .transferEncodingGzip: "a gzip-compressed body with Transfer-Encoding: gzip, chunked"
    case .transferEncodingNotGzip: "a plain body with Transfer-Encoding: gzip, chunked"
    case .transferEncodingUnknown: "a plain body with a nonexistent transfer coding"
    case .gzipBomb: "size= bytes of zeros, compressed to 1/158 of that size, with Content-Encoding: gzip"
    case .transferEncodingGzipBomb:
      "size= bytes of zeros, compressed to 1/158 of that size, with Transfer-Encoding: gzip, chunked"
    case .wrongContentLength: "a body longer than its Content-Length"
    case .conflictingContentLengths: "two different Content-Length fields"
    case .contentLengthAndChunked: "a chunked body with a Content-Length"
    case .malformedContentLength: "a Content-Length of -1"
    case .hugeContentLength:
      "an announced body of size= bytes, only 1,000 of which are sent; the connection stays open"
    case .closeDelimited: "a complete body that ends when the connection closes"
    case .secondResponse: "a complete response and an unsolicited second one; the connection stays open"
    case .lateResponse:
      "a complete response, and an unsolicited second one interval= seconds later; the connection stays open"
    case .http09: "a body without a status line or header section, as in HTTP/0.9"
    case .garbage: "size= bytes that are not HTTP"
    case .digits: "a body of size= digits"
    case .nestedJSON: "a JSON body of size= bytes that consists only of nested arrays"
    case .nestedXML: "an XML body of size= bytes that consists only of nested elements"
    case .manyValuesJSON: "a JSON array of size= bytes with as many numbers as fit"
    case .manyKeysJSON: "a JSON object of size= bytes with as many keys as fit, all different"
    case .hugeNumberJSON: "a JSON object of size= bytes whose /id and /access_token are long numbers"
    case .hugeCapture: "a JSON object of size= bytes whose /id and /access_token are long strings"
    }
  }
}
