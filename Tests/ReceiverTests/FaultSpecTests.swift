import Testing

@testable import Receiver

@Suite struct FaultSpecTests {
  @Test(arguments: [
    ("commit:every=7,status=500", Fault.status(500, on: .commit, every: 7)),
    ("content:every=5,drop=before", .drop(.before, on: .content, every: 5)),
    ("commit:every=4,drop=after,cut=close", .drop(.after, on: .commit, every: 4, cut: .close)),
    ("any:every=10,status=429,retry_after=1", .status(429, on: .any, every: 10, retryAfter: 1)),
    ("allocate:times=2,delay=0.2", .delay(0.2, on: .allocate, times: 2)),
    (
      "commit:response=redirect,status=303,location=http://127.0.0.1:1/a?b=c,work=done",
      .response(.redirect, on: .commit, status: 303, work: .done, location: "http://127.0.0.1:1/a?b=c")
    ),
    ("catalog:response=drip,size=10,interval=0.5", .response(.drip, on: .catalog, size: 10, interval: 0.5)),
    ("file:match=/a?b=c,status=404", Fault(route: .file, match: "/a?b=c", status: 404)),
    ("any:every=2,times=3,response=http-0.9", .response(.http09, on: .any, every: 2, times: 3)),
  ])
  func `a fault is read from its text`(spec: String, fault: Fault) throws {
    #expect(try Fault(spec: spec) == fault)
  }

  @Test(arguments: [
    ("commit", "'commit' is not ROUTE:KEY=VALUE,…"),
    (
      "comit:status=500",
      "'comit' is not a route; the routes are token, allocate, content, commit, state, abandon, file, inbox, catalog, "
        + "blob, done, redirect, any"
    ),
    (
      "commit:statu=500",
      "'statu' is not a key; the keys are match, every, times, status, retry_after, drop, cut, delay, response, work, "
        + "location, size, interval"
    ),
    ("commit:status", "'status' is not KEY=VALUE"),
    ("commit:status=ok", "'status' must be a status such as 503"),
    ("commit:status=500,status=501", "'status' is specified twice"),
    ("commit:match=,status=500", "match must not be empty"),
    ("commit:every=0,status=500", "every must be at least 1"),
    ("commit:times=0,status=500", "times must be at least 1"),
    ("commit:status=99", "status must be between 200 and 599"),
    ("commit:delay=-1", "delay must be between 0 and 3600 seconds"),
    ("commit:delay=nan", "delay must be between 0 and 3600 seconds"),
    ("commit:drop=before,retry_after=1", "retry_after requires a status"),
    (
      "commit:status=500,drop=after",
      "status and drop are mutually exclusive: a dropped connection has no response"
    ),
    ("commit:every=2", "the fault has no effect: specify a status, a drop, a delay or a response"),
    ("commit:cut=close,status=500", "cut requires a drop or a truncated response"),
    (
      "commit:response=gone",
      "'response' must be a hostile response, which 'ferry-receiver --list-faults' lists"
    ),
    (
      "commit:response=drip,drop=after",
      "drop and response are mutually exclusive: a dropped connection has no response"
    ),
    ("commit:response=drip,location=/", "location has no effect with response=drip"),
    ("commit:response=redirect,size=1", "size has no effect with response=redirect"),
    ("commit:response=redirect,cut=close", "cut has no effect with response=redirect"),
    ("commit:response=redirect,interval=1", "interval has no effect with response=redirect"),
    ("commit:response=not-modified,status=304", "status has no effect with response=not-modified"),
    (
      "commit:response=other-status,status=600,retry_after=1",
      "retry_after has no effect with response=other-status"
    ),
    ("commit:response=redirect,status=200", "the status of response=redirect must be between 300 and 399"),
    ("commit:response=other-status", "response=other-status requires a status"),
    (
      "commit:response=other-status,status=99",
      "the status of response=other-status must be between 100 and 999"
    ),
    ("commit:response=foreign-url", "response=foreign-url requires a location"),
    (
      "commit:response=redirect,location=",
      "location must be a URL in printable ASCII, without spaces, quotes or backslashes"
    ),
    (
      "commit:response=redirect,location=/a b",
      "location must be a URL in printable ASCII, without spaces, quotes or backslashes"
    ),
    ("commit:response=drip,size=0", "size must be between 1 and 2^50 bytes"),
    ("commit:response=drip,interval=-1", "interval must be between 0 and 3600 seconds"),
    ("commit:response=drip,interval=nan", "interval must be between 0 and 3600 seconds"),
    ("commit:work=done,status=500", "work requires a response"),
    ("commit:location=/,status=302", "location requires a response"),
  ])
  func `an invalid fault is rejected with a reason`(spec: String, why: String) {
    let error = #expect(throws: Fault.Invalid.self) { try Fault(spec: spec) }
    #expect(error?.description == why)
  }

  @Test func `of several due faults, the first one applies, and all of them count`() {
    var plan = FaultPlan()
    let second = Fault.status(502, on: .commit, every: 2)
    let third = Fault.status(503, on: .any, every: 3)
    plan.add(second)
    plan.add(third)
    #expect((1...6).map { _ in plan.count(.commit) } == [nil, second, third, second, nil, second])
  }

  @Test func `a fault counts only what it matches`() {
    var plan = FaultPlan()
    let fault = Fault(route: .file, match: "/a", every: 2, status: 404)
    plan.add(fault)
    let targets = ["/files/a", "/files/b", "/files/b?c=/a", "/files/a"]
    #expect(targets.map { plan.count(.file, target: $0) } == [nil, nil, fault, nil])
  }

  @Test func `a fault occurs as often as specified`() {
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
