/// The settings of each hostile response. A fault with any other setting is rejected.
extension HostileResponse {
  /// The heading for the response in the list.
  enum Theme: String, CaseIterable {
    case redirects = "Redirects"
    case statuses = "Unsolicited statuses"
    case validators = "Validators that cannot be sent back"
    case cuts = "Truncated responses"
    case slowness = "Slow responses"
    case floods = "Floods"
    case encodings = "Unsolicited encodings"
    case framing = "Wrong framing"
    case bodies = "Bodies that are expensive to read"
  }

  /// The settings that a fault can change, with their defaults. Nil and false mean that the setting is
  /// rejected.
  struct Settings {
    let theme: Theme
    /// The allowed values of `status=`.
    var statuses: ClosedRange<Int>?
    /// The default status or, if ``statuses`` is nil, the only status. If this is nil and ``statuses`` is
    /// not, `status=` is required.
    var status: Int?
    var takesLocation = false
    /// The size in bytes.
    var size: Int?
    /// The interval in seconds.
    var interval: Double?
    var takesCut = false
  }

  var settings: Settings {
    switch self {
    case .redirect, .redirectToUserinfo, .duplicateLocation:
      Settings(theme: .redirects, statuses: 300...399, status: 307, takesLocation: true)
    case .redirectLoop, .redirectToFileScheme: Settings(theme: .redirects, statuses: 300...399, status: 307)
    case .foreignURL: Settings(theme: .redirects, statuses: 200...299, status: 201, takesLocation: true)

    case .locationOfRequest: Settings(theme: .redirects, statuses: 200...299, status: 201)

    case .partialContent: Settings(theme: .statuses, status: 206)
    case .notModified: Settings(theme: .statuses, status: 304)
    case .noContent: Settings(theme: .statuses, status: 204)
    case .resetContent: Settings(theme: .statuses, status: 205)
    case .otherStatus: Settings(theme: .statuses, statuses: 100...999)

    case .etagControlCharacter, .etagNotASCII, .etagFolded, .lastModifiedControlCharacter:
      Settings(theme: .validators, status: 200)
    case .etagLong: Settings(theme: .validators, status: 200, size: 16 << 10)

    case .cutInStatusLine, .cutAfterStatusLine, .cutInHeaderLine, .cutInHeader, .cutAfterEarlyHints,
      .cutInHeaderAfterEarlyHints, .cutInBody, .cutInChunk, .cutBeforeLastChunk:
      Settings(theme: .cuts, statuses: 200...599, status: 200, takesCut: true)

    case .silence: Settings(theme: .slowness)
    case .drip: Settings(theme: .slowness, statuses: 200...599, status: 200, size: 1 << 40, interval: 1)
    case .dripHeader: Settings(theme: .slowness, statuses: 200...599, status: 200, interval: 1)

    case .manyHeaders, .longHeaderLine, .longReasonPhrase:
      Settings(theme: .floods, statuses: 200...599, status: 200, size: 1 << 20)
    case .earlyHints: Settings(theme: .floods, statuses: 200...599, status: 200)
    case .earlyHintsFlood, .uploadResumptionFlood: Settings(theme: .floods, interval: 0)
    case .endlessHeader, .endlessBody, .tinyChunks, .endlessChunkExtension, .endlessTrailer:
      Settings(theme: .floods, statuses: 200...599, status: 200, interval: 0)

    case .contentEncodingGzip, .contentEncodingNotGzip, .transferEncodingGzip, .transferEncodingNotGzip,
      .transferEncodingUnknown:
      Settings(theme: .encodings, statuses: 200...599, status: 200)
    case .gzipBomb, .transferEncodingGzipBomb:
      Settings(theme: .encodings, statuses: 200...599, status: 200, size: 1 << 30)

    case .wrongContentLength, .conflictingContentLengths, .contentLengthAndChunked, .malformedContentLength,
      .closeDelimited, .secondResponse:
      Settings(theme: .framing, statuses: 200...599, status: 200)
    case .lateResponse: Settings(theme: .framing, statuses: 200...599, status: 200, interval: 0.1)
    case .hugeContentLength: Settings(theme: .framing, statuses: 200...599, status: 200, size: 1 << 40)
    case .http09: Settings(theme: .framing)
    case .garbage: Settings(theme: .framing, size: 1 << 20)

    case .digits, .nestedJSON, .nestedXML, .manyValuesJSON, .manyKeysJSON, .hugeNumberJSON, .hugeCapture:
      Settings(theme: .bodies, statuses: 200...599, status: 200, size: 1 << 20)
    }
  }
}
