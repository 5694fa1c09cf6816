/// Why no listing could be made at all.
package struct ListingFailure: Error, Hashable, Sendable, CustomStringConvertible {
  package var message: String
  package var description: String { message }
}
