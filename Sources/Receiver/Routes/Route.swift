import FlyingFox
import Foundation

/// The requested operation.
enum Route: Equatable {
  case token
  case allocate
  case content(id: String)
  case commit(id: String)
  case state(id: String)
  case abandon(id: String)
  case putFile(name: String)
  case getFile(name: String)
  case inbox
  case catalog
  case blob(name: String)
  case done
  case redirect
  case listing
  case showFaults
  case addFaults
  case clearFaults
  /// The path is known, but the method is not allowed; `allowed` lists the allowed methods.
  case notAllowed(allowed: String)
  /// A part of the path is not percent-encoded UTF-8.
  case malformed
  case unknown

  /// Parses a method and a path as received.
  init(method: HTTPMethod, path: String) {
    self = Self.match(method, path.split(separator: "/", omittingEmptySubsequences: false).dropFirst())
  }

  private static func match(_ method: HTTPMethod, _ parts: ArraySlice<Substring>) -> Route {
    let rest = Array(parts.dropFirst())
    switch (parts.first, rest.count) {
    case ("oauth", 1) where rest == ["token"]: return method.one(of: [.POST: .token])
    case ("uploads", 0): return method.one(of: [.POST: .allocate])
    case ("uploads", 1):
      return named(rest[0...0]) { id in
        method.one(of: [.GET: .state(id: id), .HEAD: .state(id: id), .DELETE: .abandon(id: id)])
      }
    case ("uploads", 2) where rest[1] == "content":
      return named(rest[0...0]) { id in
        method.one(of: [.PUT: .content(id: id), .POST: .content(id: id)])
      }
    case ("uploads", 2) where rest[1] == "commit":
      return named(rest[0...0]) { id in method.one(of: [.POST: .commit(id: id)]) }
    case ("files", 1...):
      return named(rest[...]) { name in
        let get = Route.getFile(name: name)
        return method.one(of: [.GET: get, .HEAD: get, .PUT: .putFile(name: name)])
      }
    case ("blobs", 1...):
      return named(rest[...]) { name in
        method.one(of: [.GET: .blob(name: name), .HEAD: .blob(name: name)])
      }
    case ("inbox", 0): return method.one(of: [.POST: .inbox])
    case ("catalog.json", 0): return method.one(of: [.GET: .catalog, .HEAD: .catalog])
    case ("done", 0): return method.one(of: [.POST: .done])
    case ("redirect", 0): return .redirect
    case ("received", 0): return method.one(of: [.GET: .listing])
    case ("faults", 0):
      return method.one(of: [.GET: .showFaults, .POST: .addFaults, .DELETE: .clearFaults])
    default: return .unknown
    }
  }

  private static func named(_ parts: ArraySlice<Substring>, _ route: (String) -> Route) -> Route {
    guard let name = parts.joined(separator: "/").removingPercentEncoding else { return .malformed }
    return name.isEmpty ? .unknown : route(name)
  }

  /// The kind of request to which a fault can apply; nil if no fault can.
  var faultClass: RouteClass? {
    switch self {
    case .token: .token
    case .allocate: .allocate
    case .content: .content
    case .commit: .commit
    case .state: .state
    case .abandon: .abandon
    case .putFile, .getFile: .file
    case .inbox: .inbox
    case .catalog: .catalog
    case .blob: .blob
    case .done: .done
    case .redirect: .redirect
    case .notAllowed, .malformed, .unknown: .any
    case .listing, .showFaults, .addFaults, .clearFaults: nil
    }
  }

  /// Whether the route requires a token when tokens are required.
  var isGuarded: Bool {
    switch self {
    case .token, .listing, .showFaults, .addFaults, .clearFaults: false
    case .allocate, .content, .commit, .state, .abandon, .putFile, .getFile, .inbox, .catalog, .blob, .done,
      .redirect,
      .notAllowed, .malformed, .unknown:
      true
    }
  }
}

extension HTTPMethod {
  fileprivate func one(of routes: [HTTPMethod: Route]) -> Route {
    if let route = routes[self] { return route }
    return .notAllowed(allowed: routes.keys.map(\.rawValue).sorted().joined(separator: ", "))
  }
}
