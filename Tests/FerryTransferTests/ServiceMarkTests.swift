import FerryPlan
import Foundation
import Testing

@testable import FerryTransfer

@Suite struct `The packets of a request` {
  /// The connection is reused, and marked for each request.
  @Test func `are marked by its service type`() throws {
    let ledger = SocketLedger()
    let loop = try TransferLoop(sockets: ledger, threads: .init())
    let server = try RawServer { _ in answer() }
    for (id, isBackground) in [true, false, true].enumerated() {
      var request = TransferRequest(id: UInt64(id), method: "GET", url: server.url)
      request.connection = ConnectionOptions(tls: TLSOptions(), isBackground: isBackground)
      #expect(try loop.run(request).answer?.status == 200)
      #expect(ledger.openDescriptors.map { ServiceMark.value(of: $0) } == [isBackground ? 0b100 : 0])
    }
    #expect(server.connectionCount == 1)
  }
}
