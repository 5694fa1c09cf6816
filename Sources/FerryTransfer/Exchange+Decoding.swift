import FerryPlan

extension Exchange {
  /// The response body in memory. If the request asked for content codings, they are removed.
  ///
  /// - Returns: the decoded body, or the body as received with the codings that were not removed. Fails if a
  ///   needed body cannot be decoded.
  func decodedBody(of head: ResponseHead) -> Result<(body: [UInt8], coding: String?), TransportFailure> {
    let codings = ContentCoding.codings(of: head.fields)
    guard !codings.isEmpty else { return .success((body, nil)) }
    let unrequested = ContentCoding.unrequested(in: head.fields, of: hop.headers)
    guard request.decodes, unrequested == nil, !body.isEmpty,
      case .memory(let limit, let isNeeded) = sink
    else { return .success((body, unrequested)) }
    let coding = codings.joined(separator: ", ")
    guard responseBody <= body.count else { return .success((body, coding)) }
    do throws(ContentDecoder.Failure) {
      return .success((try ContentDecoder.decode(body, codings, limit: limit), nil))
    } catch {
      guard isNeeded else { return .success((body, coding)) }
      return .failure(failure(error, limit))
    }
  }

  private func failure(_ failure: ContentDecoder.Failure, _ limit: Int) -> TransportFailure {
    let address = CurlFailure.address(of: hop.url) ?? "the server"
    return switch failure {
    case .tooLarge:
      TransportFailure(
        .responseTooLarge, "\(address): the decompressed response is larger than \(limit) bytes",
        mayHaveReachedServer: true)
    case .malformed(let coding):
      TransportFailure(
        .malformedResponse, "\(address): the body of the response is not valid \(coding)",
        mayHaveReachedServer: true)
    case .unsupported:
      TransportFailure(
        .malformedResponse, "\(address): the Content-Encoding of the response is not supported",
        mayHaveReachedServer: true)
    }
  }
}
