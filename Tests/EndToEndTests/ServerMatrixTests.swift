import Foundation
import Testing

/// Each protocol against each server in docs/servers.md. Most of these servers are not part of this project.
///
/// All requests pass through a proxy that issues and revokes tokens, and that holds or aborts requests.
@Suite(.timeLimit(.minutes(3))) struct `A file` {
  /// The number of received bytes that a server may drop when a connection is lost.
  private static let inFlight = 128 << 10

  @Test(arguments: ServerRow.possible)
  func `arrives once and unchanged`(_ row: ServerRow) async throws {
    let matrix = try await MatrixJob(row)
    let report = try await matrix.run()
    try await matrix.expectDelivery()
    #expect(matrix.proxy.count(row.data) == row.parts, "\(matrix.proxy.log)")
    #expect(matrix.creations == (row.creation == nil ? 0 : 1))
    #expect(report.totals.bytes.useful == row.size && report.totals.bytes.resent == 0)
    #expect(report.totals.tokensFetched == 1)
    if let caddy = matrix.caddy { #expect(caddy.versions == [row.caddy == "h1" ? "HTTP/1.1" : "HTTP/2.0"]) }
    // The second run sends no request.
    let again = try await matrix.run()
    #expect(again.totals.requests == 0)
    await matrix.stop()
  }

  @Test(arguments: ServerRow.possible)
  func `arrives after kills, and what the server has is not sent again`(_ row: ServerRow) async throws {
    let bytes = row.part.map { $0 * 2 / 5 } ?? 1_500_000
    let matrix = try await MatrixJob(
      row,
      faults: [
        MatrixJob.fault(row, 2, #""hold": \#(bytes)"#),
        MatrixJob.fault(row, 3, single: row.endsBrokenUploads ? 2 : 1, #""hold": \#(bytes / 2)"#),
      ])
    for kill in 1...2 {
      let run = try matrix.start()
      _ = try await matrix.proxy.waitUntilHeld(kill, by: run)
      run.signal(SIGKILL)
      #expect(await run.end().status == 128 + SIGKILL)
      if row.creation == nil { #expect(try await matrix.server.delivered() == [], "no part of a file") }
    }
    try await matrix.run()
    try await matrix.expectDelivery()
    let resent = matrix.sent - row.size
    switch row.resumption {
    case .byte: #expect(resent <= Self.inFlight && matrix.creations <= 1)
    case .part: #expect(resent <= bytes + bytes / 2 + 2 * Self.inFlight && matrix.creations == 1)
    case .none: #expect(resent > bytes)
    }
    if row.endsBrokenUploads { #expect(matrix.creations == 3) }
    await matrix.stop()
  }

  @Test(arguments: ServerRow.possible)
  func `arrives although its token is revoked during the transfer`(_ row: ServerRow) async throws {
    let bytes = 1_500_000
    let faults =
      if row.part != nil {
        [MatrixJob.fault(row, 2, #""revoke": 0"#)]
      } else if row.resumption == .byte, row.query == nil {
        // The token is rejected when the upload is about to resume.
        [MatrixJob.fault(row, 1, #""cut": \#(bytes)"#), MatrixJob.fault(row, 1, #""revoke": 0"#)]
      } else {
        [MatrixJob.fault(row, 1, #""revoke": \#(bytes)"#)]
      }
    let matrix = try await MatrixJob(row, faults: faults)
    let report = try await matrix.run()
    try await matrix.expectDelivery()
    #expect(report.totals.tokensFetched == 2)
    let resent = matrix.sent - row.size
    if let part = row.part {
      // At most the part that was rejected is sent again.
      #expect(resent <= part && matrix.creations == 1)
    } else if row.resumption == .byte {
      // The rest of the file is sent again if the server rejected the request after the body had been sent.
      #expect(resent <= (row.query == nil ? row.size - bytes : 0) + Self.inFlight && matrix.creations == 1)
    } else {
      #expect(resent < row.size)
      if row.endsBrokenUploads { #expect(matrix.creations == 2) }
    }
    await matrix.stop()
  }

  @Test(arguments: ServerRow.possible.filter { $0.creation != nil })
  func `is sent in a new upload if its upload is removed during the transfer`(_ row: ServerRow) async throws {
    let faults =
      if let query = row.query {
        [MatrixJob.fault(row, 1, #""cut": 1500000"#), #"{"match": "\#(query)", "number": 1, "hold": 0}"#]
      } else {
        [MatrixJob.fault(row, 3, #""hold": 0"#)]
      }
    let matrix = try await MatrixJob(row, faults: faults)
    var run = try matrix.start()
    let target = try await matrix.proxy.waitUntilHeld(by: run)
    if row.isForgottenBetweenRuns {
      run.signal(SIGKILL)
      _ = await run.end()
    }
    try await matrix.server.forget(target)
    try matrix.proxy.release()
    if row.isForgottenBetweenRuns { run = try matrix.start() }
    let end = await run.end()
    #expect(end.status == 0, "\(end.stdout)\(end.stderr)\(matrix.proxy.log)")
    try await matrix.expectDelivery()
    #expect(matrix.creations == 2)
    #expect(try matrix.job.report().totals.idsExpired == 1)
    await matrix.stop()
  }

  /// Without an `allocate` step, ferry cannot renew the upload.
  @Test(arguments: ServerRow.possible.filter { $0.creation == nil })
  func `without an upload ID fails if its URL is gone, and the next run sends it`(_ row: ServerRow)
    async throws
  {
    let matrix = try await MatrixJob(row, faults: [MatrixJob.fault(row, 1, #""status": 404"#)])
    let end = try await matrix.start().end()
    #expect(end.status == 1, "\(end.stdout)\(end.stderr)")
    #expect(try matrix.job.report().item("f")?.reason?.code == "http_status")
    #expect(matrix.proxy.count(row.data) == 1)
    try await matrix.run()
    try await matrix.expectDelivery()
    await matrix.stop()
  }

  @Test(arguments: ServerRow.possible)
  func `arrives although a connection is lost and the server fails`(_ row: ServerRow) async throws {
    let cut = 200_000
    let matrix = try await MatrixJob(
      row,
      faults: [
        MatrixJob.fault(row, 2, #""cut": \#(cut)"#), MatrixJob.fault(row, 1, #""status": 503"#),
        MatrixJob.fault(row, 1, #""status": 500"#),
      ])
    try await matrix.run()
    try await matrix.expectDelivery()
    let resent = matrix.sent - row.size
    if row.resumption != .none {
      // The bytes of the two failed requests are sent again, as are the bytes of the aborted request, except
      // for those that the server stored.
      let failed = 2 * (row.part ?? row.size - cut)
      #expect(resent <= failed + (row.resumption == .byte ? Self.inFlight : cut) && matrix.creations == 1)
    }
    if row.endsBrokenUploads { #expect(matrix.creations == 2) }
    await matrix.stop()
  }
}
