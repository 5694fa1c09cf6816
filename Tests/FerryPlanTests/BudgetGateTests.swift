import FerryManifest
import Testing

@testable import FerryPlan

/// The reservations of one gate, apart from the scheduler.
@Suite struct `A budget gate` {
  private let first = ItemRef(NodeID(0), 0)
  private let second = ItemRef(NodeID(0), 1)

  /// A gate with a hard limit, a lease of `leased` bytes, and a reservation of all of them for the first file.
  private func gate(leased: Int64) -> BudgetGate {
    let budget = Budget(limit: 10_000_000, per: .day, cutoff: .hard)
    var gate = BudgetGate(
      network: .wifi, limits: [.init(.wifi, budget, zone: .utc, at: Instant(wholeSeconds: 0))])
    guard case .asks(.some) = gate.admit(first, size: leased) else {
      Issue.record("the first file needs no lease")
      return gate
    }
    gate.answered(Lease(granted: leased, used: [0]))
    guard case .admitted = gate.admit(first, size: leased) else {
      Issue.record("the first file is not admitted with its lease")
      return gate
    }
    return gate
  }

  private func isAdmitted(_ gate: inout BudgetGate, _ place: ItemRef, _ size: Int64) -> Bool {
    if case .admitted = gate.admit(place, size: size) { true } else { false }
  }

  @Test func `gives the bytes that a file has not sent to the next one`() {
    var gate = gate(leased: 1_000)
    gate.release(first)
    #expect(isAdmitted(&gate, second, 1_000))
  }

  @Test(arguments: [1_000, 400]) func `gives away no bytes that were sent`(_ sent: Int64) {
    var gate = gate(leased: 1_000)
    gate.moved(sent)
    gate.release(first)
    #expect(!isAdmitted(&gate, second, 1_001 - sent))
  }

  @Test func `gives up what was reserved and not sent, except for the smallest lease`() {
    var gate = gate(leased: 5_000_000)
    let before = gate.giveUpSurplus()
    gate.moved(1_000_000)
    gate.release(first)
    let room = gate.room
    let (hasSurplus, hasMore) = (gate.giveUpSurplus(), gate.giveUpSurplus())
    #expect(!before && hasSurplus && !hasMore)
    #expect(gate.held == BudgetGate.smallestLease && gate.room == room && room == 9_000_000)
  }

  @Test func `keeps the leases of reserved bytes in the next window, and asks for the rest`() {
    var gate = gate(leased: 1_000)
    gate.moved(400)
    let hasRolled = gate.roll(at: Instant(wholeSeconds: 86_400))
    gate.keepReserved()
    #expect(hasRolled && gate.held == 600)
    guard case .asks(let request?) = gate.admit(second, size: 10) else {
      Issue.record("the second file needs no lease")
      return
    }
    #expect(request.minimum == 410)
  }

  /// Two sessions with the same budget can have two gates. Their bytes are counted together, in either gate.
  @Test(arguments: [1_000, 400]) func `gives away no bytes that were counted in another gate`(_ sent: Int64) {
    var gate = gate(leased: 1_000)
    gate.release(first, sent: sent)
    #expect(!isAdmitted(&gate, second, 1_001 - sent))
    var part = self.gate(leased: 1_000)
    part.release(first, bytes: 600, sent: min(sent, 600))
    #expect(!isAdmitted(&part, second, 601 - min(sent, 600)))
  }
}
