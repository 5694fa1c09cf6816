import Foundation

/// The front door's thread: waits for sockets, accepts clients, forwards bytes and cuts connections.
struct FrontDoorLoop {
  /// Each connection may need four descriptors: the client's, the two ends of the private socket, and a file.
  private static let filesPerConnection = 4
  /// The number of descriptors reserved for the rest of the process.
  private static let sparedFiles = 64

  let listener: Int32
  let bell: Int32
  let path: String
  private let recorder: RequestRecorder?
  private let connectionLimit: Int
  private var connections: [ConnectionID: ClientConnection] = [:]
  private var accepted: UInt64 = 0
  private var scratch = [UInt8](repeating: 0, count: 64 * 1024)

  init(listener: Int32, bell: Int32, path: String, recorder: RequestRecorder?) {
    self.recorder = recorder
    self.listener = listener
    self.bell = bell
    self.path = path
    // FlyingFox stops permanently if it runs out of descriptors. Beyond the limit, clients wait in the
    // backlog instead.
    let open = min(Int(clamping: sysconf(Int32(_SC_OPEN_MAX))), 65_536)
    connectionLimit = max(16, (open - Self.sparedFiles) / Self.filesPerConnection)
  }

  /// Runs until it is stopped, then closes every connection.
  consuming func run(takingOrdersFrom door: FrontDoor) {
    while true {
      var (interests, order) = waitList()
      let ready = poll(&interests, nfds_t(interests.count), patience)
      // Interrupted by a signal; `interests` was not filled in.
      if ready < 0 { continue }
      // Orders are handled before the sockets, because a response that is ready now may belong to a
      // connection that was cut before the response was sent.
      if interests[0].revents != 0 { quietBell() }
      let orders = door.takeOrders()
      for order in orders.list { obey(order) }
      if orders.stops { break }
      let now = ContinuousClock.now
      for (index, id) in order.enumerated() {
        let client = interests[2 + 2 * index].revents
        let server = interests[3 + 2 * index].revents
        let isDue = connections[id]?.due.map { $0 <= now } ?? false
        if client | server != 0 || isDue { move(id, client: client, server: server) }
      }
      if interests[1].revents != 0 { acceptClients() }
    }
    for connection in connections.values {
      close(connection.client)
      close(connection.server)
    }
  }

  /// The sockets to poll: bell, listener, then two for each connection, in the order of the second result.
  private func waitList() -> ([pollfd], [ConnectionID]) {
    var interests = [pollfd(fd: bell, events: Int16(POLLIN), revents: 0)]
    interests.reserveCapacity(2 + 2 * connections.count)
    var order: [ConnectionID] = []
    order.reserveCapacity(connections.count)
    let accepts = connections.count < connectionLimit
    interests.append(pollfd(fd: accepts ? listener : -1, events: Int16(POLLIN), revents: 0))
    for (id, connection) in connections {
      order.append(id)
      for (file, interest) in [
        (connection.client, connection.clientInterest), (connection.server, connection.serverInterest),
      ] {
        // `poll` reports a hangup even if it was not requested, so a socket without requested events is
        // omitted.
        interests.append(pollfd(fd: interest == 0 ? -1 : file, events: interest, revents: 0))
      }
    }
    return (interests, order)
  }

  /// The maximum wait until the next piece of a hostile response, in milliseconds; -1 means indefinitely.
  private var patience: Int32 {
    guard let due = connections.values.lazy.compactMap(\.due).min() else { return -1 }
    let wait = ContinuousClock.now.duration(to: due) / .milliseconds(1)
    return wait <= 0 ? 0 : Int32(min(wait.rounded(.up), 60_000))
  }

  private mutating func move(_ id: ConnectionID, client: Int16, server: Int16) {
    // The entry is nil if an order has cut the connection in the meantime.
    connections[id]?.move(client: client, server: server, scratch: &scratch)
    guard let connection = connections[id], connection.isOver else { return }
    connections[id] = nil
    end(connection, by: connection.endsByReset ? .reset : .close)
  }

  private mutating func obey(_ order: FrontDoor.Order) {
    switch order {
    case .cut(let id, let how):
      guard let connection = connections.removeValue(forKey: id) else { return }
      end(connection, by: how)
    case .play(let id, let script, let continuation):
      connections[id]?.play(script, scratch: &scratch)
      continuation.resume()
    }
  }

  private func end(_ connection: ClientConnection, by how: Fault.Cut) {
    switch how {
    case .reset: SystemSocket.reset(connection.client)
    case .close: close(connection.client)
    }
    close(connection.server)
  }

  private mutating func acceptClients() {
    while connections.count < connectionLimit, let client = SystemSocket.acceptClient(on: listener) {
      guard let server = try? SystemSocket.connect(path: path) else {
        // The server is stopping, so the client's connection is closed.
        close(client)
        continue
      }
      accepted += 1
      let id = ConnectionID(rawValue: accepted)
      connections[id] = ClientConnection(id: id, client: client, server: server, recorder: recorder)
    }
  }

  private func quietBell() {
    var bytes = [UInt8](repeating: 0, count: 64)
    while read(bell, &bytes, bytes.count) > 0 {}
  }
}
