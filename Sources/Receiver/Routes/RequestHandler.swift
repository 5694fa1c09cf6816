import FlyingFox
import Foundation
import Synchronization

/// Responds to requests: counts them, applies the due faults, checks the token, and executes the request.
final class RequestHandler: HTTPHandler {
  let configuration: ReceiverConfiguration
  let store: ContentStore
  let ledger: Mutex<Ledger>
  private let door: FrontDoor

  init(configuration: ReceiverConfiguration, door: FrontDoor) throws {
    self.configuration = configuration
    self.door = door
    store = try ContentStore(directory: configuration.directory)
    ledger = Mutex(Ledger(faults: configuration.faults, at: configuration.now()))
  }

  func handleRequest(_ request: HTTPRequest) async -> HTTPResponse {
    var body = RequestBody(of: request)
    let path = request.target.path()
    let route = Route(method: request.method, path: path)
    let query = request.target.query()
    let target = query.isEmpty ? path : "\(path)?\(query)"
    let fault = route.faultClass.flatMap { kind in ledger.withLock { $0.arrive(kind, target: target) } }
    if let fault, let response = fault.response {
      await send(
        HostileScript(response, of: fault, target: target, host: host(of: request)), fault, request, route,
        &body)
      // The client no longer receives this response.
      return .empty(.serviceUnavailable)
    }
    let answer = await answer(request, route, fault, &body)
    await body.drain()
    configuration.log?("\(request.method.rawValue) \(path) \(answer.statusCode.code)")
    return answer
  }

  private func send(
    _ script: HostileScript, _ fault: Fault, _ request: HTTPRequest, _ route: Route, _ body: inout RequestBody
  ) async {
    if fault.work == .done { _ = await carryOut(route, request, &body) }
    await body.drain()
    await wait(for: fault)
    let (method, path) = (request.method.rawValue, request.target.path())
    configuration.log?("\(method) \(path) \(script.response.rawValue)")
    if let id = connection(of: request) { await door.play(script.script, on: id) }
  }

  private func host(of request: HTTPRequest) -> String { request.headers[.host] ?? "127.0.0.1:\(door.port)" }

  private func answer(
    _ request: HTTPRequest, _ route: Route, _ fault: Fault?, _ body: inout RequestBody
  ) async -> HTTPResponse {
    guard let fault else { return await carryOut(route, request, &body) }
    if fault.drop == .before {
      await wait(for: fault)
      cut(request, by: fault.cut ?? .reset)
      // The client no longer receives this response.
      return .empty(.serviceUnavailable)
    }
    if let status = fault.status {
      await body.drain()
      await wait(for: fault)
      return answer(status: status, retryAfter: fault.retryAfter)
    }
    let answer = await carryOut(route, request, &body)
    await body.drain()
    await wait(for: fault)
    if fault.drop == .after { cut(request, by: fault.cut ?? .reset) }
    return answer
  }

  private func wait(for fault: Fault) async {
    guard let delay = fault.delay else { return }
    // Only the server's shutdown interrupts the delay.
    try? await configuration.wait(.seconds(delay))
  }

  private func cut(_ request: HTTPRequest, by how: Fault.Cut) {
    if let id = connection(of: request) { door.cut(id, by: how) }
  }

  /// The connection on which a request arrived. The front door adds the header field to every request, so the
  /// result is never nil.
  private func connection(of request: HTTPRequest) -> ConnectionID? {
    request.headers[HTTPHeader(ConnectionID.header)].flatMap { UInt64($0) }.map { ConnectionID(rawValue: $0) }
  }

  private func answer(status: Int, retryAfter: Int?) -> HTTPResponse {
    var headers = HTTPHeaders()
    if let retryAfter { headers[HTTPHeader("Retry-After")] = String(retryAfter) }
    if status == 401 { headers[HTTPHeader("WWW-Authenticate")] = "Bearer error=\"invalid_token\"" }
    // Responses with these two statuses have no body (RFC 9110, sections 15.3.5 and 15.4.5).
    if status == 204 || status == 304 { return .empty(.numbered(status), headers: headers) }
    return .problem(.numbered(status), "fault", "this response was requested", headers: headers)
  }

  /// Executes the route, unless a required token is missing or invalid.
  private func carryOut(
    _ route: Route, _ request: HTTPRequest, _ body: inout RequestBody
  ) async -> HTTPResponse {
    if configuration.requiresToken && route.isGuarded, let refusal = refusal(of: request) { return refusal }
    do {
      return try await perform(route, request, &body)
    } catch let refusal as UploadBook.Refusal {
      return answer(to: refusal)
    } catch is RequestBody.TooLarge {
      return .problem(
        .payloadTooLarge, "too_large", "the body is longer than \(RequestBody.memoryLimit) bytes")
    } catch is RequestBody.CutShort {
      return .problem(.badRequest, "cut_short", "the connection ended before the body did")
    } catch is DecodingError {
      return .problem(.badRequest, "invalid_json", "the body is not the JSON that this route expects")
    } catch let invalid as Fault.Invalid {
      return .problem(.badRequest, "invalid_fault", invalid.description)
    } catch {
      return .problem(.internalServerError, "internal", "\(error.localizedDescription)")
    }
  }

  private func perform(
    _ route: Route, _ request: HTTPRequest, _ body: inout RequestBody
  ) async throws -> HTTPResponse {
    switch route {
    case .token: try await issueToken(request, &body)
    case .allocate: try await allocate(&body)
    case .content(let id): try await receiveContent(id, request, &body)
    case .commit(let id): try await commit(id, request, &body)
    case .state(let id): try state(of: id)
    case .abandon(let id): try abandon(id)
    case .putFile(let name): try await putFile(name, request, &body)
    case .getFile(let name): try getFile(name, request)
    case .inbox: try await post(request, &body)
    case .catalog: try catalog(request)
    case .blob(let name): try blob(name, request)
    case .done: try await noteDone(&body)
    case .redirect: redirect(request)
    case .listing: try .json(ledger.withLock { $0.listing })
    case .showFaults: try .json(ledger.withLock { $0.faults.faults })
    case .addFaults: try await addFaults(&body)
    case .clearFaults: clearFaults()
    case .notAllowed(let allowed):
      .problem(
        .methodNotAllowed, "method_not_allowed", "the allowed methods for this path are \(allowed)",
        headers: [HTTPHeader("Allow"): allowed])
    case .malformed: .problem(.badRequest, "malformed_path", "the path is not percent-encoded UTF-8")
    case .unknown: .problem(.notFound, "not_found", "there is nothing at this path")
    }
  }

  private func answer(to refusal: UploadBook.Refusal) -> HTTPResponse {
    switch refusal {
    case .unknown: .problem(.notFound, "unknown_upload", "there is no upload with this ID")
    case .expired: .problem(.gone, "expired_upload", "the upload ID has expired")
    case .committed: .problem(.conflict, "already_committed", "the upload has already been committed")
    case .mismatch(let what): .problem(.unprocessableContent, "mismatch", what)
    }
  }
}
