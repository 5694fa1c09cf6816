import Testing

@testable import Receiver

@Suite struct FaultSpecTests {
  @Test(arguments: [
    ("commit:every=7,status=500", Fault.status(500, on: .commit, every: 7)),
    ("content:every=5,drop=before", .drop(.before, on: .content, every: 5)),
    ("commit:every=4,drop=after,cut=close", .drop(.after, on: .commit, every: 4, cut: .close)),
    ("any:every=10,status=429,retry_after=1", .status(429, on: .any, every: 10, retryAfter: 1)),
    ("allocate:times=2,delay=0.2", .delay(0.2, on: .allocate, times: 2)),
  ])
  func `a fault is read from its text`(spec: String, fault: Fault) throws {
    #expect(try Fault(spec: spec) == fault)
  }

  @Test(arguments: [
    ("commit", "'commit' is not ROUTE:KEY=VALUE,…"),
    (
      "comit:status=500",
      "'comit' is no route; there are token, allocate, content, commit, state, abandon, file, inbox, catalog, "
        + "blob, done, redirect, any"
    ),
    (
      "commit:statu=500",
      "'statu' is no key; there are every, times, status, retry_after, drop, cut, delay"
    ),
    ("commit:status", "'status' is not KEY=VALUE"),
    ("commit:status=ok", "'status' takes a status such as 503"),
    ("commit:status=500,status=501", "'status' is given twice"),
    ("commit:every=0,status=500", "every must be at least 1"),
    ("commit:times=0,status=500", "times must be at least 1"),
    ("commit:status=99", "status must be between 200 and 599"),
    ("commit:delay=-1", "delay must be between 0 and 3600 seconds"),
    ("commit:delay=nan", "delay must be between 0 and 3600 seconds"),
    ("commit:drop=before,retry_after=1", "retry_after needs a status"),
    (
      "commit:status=500,drop=after",
      "status and drop exclude each other: a dropped connection has no answer"
    ),
    ("commit:every=2", "nothing would go wrong: give a status, a drop or a delay"),
  ])
  func `a fault that cannot be says why`(spec: String, why: String) {
    let error = #expect(throws: Fault.Invalid.self) { try Fault(spec: spec) }
    #expect(error?.description == why)
  }

  @Test func `of several faults that are due the first happens, and all have counted`() {
    var plan = FaultPlan()
    let second = Fault.status(502, on: .commit, every: 2)
    let third = Fault.status(503, on: .any, every: 3)
    plan.add(second)
    plan.add(third)
    #expect((1...6).map { _ in plan.count(.commit) } == [nil, second, third, second, nil, second])
  }

  @Test func `a fault happens as often as it may and then no more`() {
    var plan = FaultPlan()
    let fault = Fault.status(500, on: .commit, every: 2, times: 2)
    plan.add(fault)
    #expect(
      (1...8).map { _ in plan.count(.commit) != nil } == [
        false, true, false, true, false, false, false, false,
      ])
    #expect(plan.count(.content) == nil)
  }
}
