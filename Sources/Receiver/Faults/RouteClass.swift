/// The kinds of request to which a fault can apply.
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
  /// All of the above, and requests for which there is no route. The routes for the listing and the faults
  /// are never included.
  case any
}
