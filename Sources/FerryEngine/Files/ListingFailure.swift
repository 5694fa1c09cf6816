/// Why no listing could be made at all.
package struct ListingFailure: Error, Hashable, Sendable, CustomStringConvertible {
  package var message: String
  package var description: String { message }

  /// What a person does about it, where that is more than to mend what is written.
  var remedy: String? {
    guard message.hasPrefix("cannot list ") else { return nil }
    return "make it a folder that can be read, or change 'root' of the upload; --only leaves that upload out"
  }
}
