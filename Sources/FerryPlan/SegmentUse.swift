/// The connections of a download that may use several.
package enum SegmentUse: Hashable, Sendable {
  /// The greatest number of connections that received the document at once.
  case several(Int)
  /// The server does not allow more than one, for this reason.
  case single(String)
}
