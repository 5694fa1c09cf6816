import FerryTransfer

/// Recognizes the error documents with which S3 refuses a URL that has expired.
///
/// Only the responses that S3 documents for this case count ("Error responses" in the Amazon S3 API Reference): the
/// code `ExpiredToken`, and `AccessDenied` with the message "Request has expired". Any other refusal may concern the
/// file, the account or the signature, which a new URL would not change.
enum ExpiredURL {
  /// The number of bytes of a body that are examined.
  private static let examined = 1024

  static func isReported(by response: TransferResponse) -> Bool {
    guard response.status == 400 || response.status == 403, response.unrequestedCoding == nil else {
      return false
    }
    let text = String(decoding: response.body.prefix(examined), as: UTF8.self)
    guard text.contains("<Error>") else { return false }
    return text.contains("<Code>ExpiredToken</Code>")
      || (text.contains("<Code>AccessDenied</Code>") && text.contains("<Message>Request has expired"))
  }
}
