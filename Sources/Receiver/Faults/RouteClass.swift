/// The kinds of request that a fault can be asked of.
package enum RouteClass: String, Codable, CaseIterable, Sendable {
  case token
  case allocate
  case content
  case commit
  case state
  case abandon
  case file
  case inbox
  case catalog
  case blob
  case done
  case redirect
  /// Every one of the above; the listing and the faults themselves are never meant.
  case any
}
