import FerryPlan

/// A simulated request that was sent and has not ended.
struct VirtualFlight: Sendable {
  let attempt: Attempt
  let startedAt: Instant
  /// The time at which the request ends unless it is canceled. The request's bytes are spread evenly over the
  /// time from its start to this time.
  let endsAt: Instant
  /// The time at which the request ends.
  var at: Instant
  var reply: Reply
  /// Whether the client knows the upload resource that the server has assigned.
  var knowsResource = false
  /// Whether ferry has canceled the request.
  var isCancelled = false
  /// The bytes that have been reported.
  var sent: Int64 = 0
  var received: Int64 = 0
  var overhead: Int64 = 0

  /// The time at which the client learns of the upload resource; `nil` if the client already knows the
  /// resource, or if the request ends earlier.
  var assignment: Instant? {
    guard let resource = reply.resource, !knowsResource else { return nil }
    let moment = startedAt.advanced(by: resource.after)
    return moment < at ? moment : nil
  }

  /// The bytes of the body that the server may have. A simulated server acts when the request starts, so it may have the
  /// whole body of a canceled request.
  var bodySent: Int64 { isCancelled ? max(sent, reply.sent) : sent }

  /// The bytes transferred until a given time.
  func moved(until now: Instant) -> (sent: Int64, received: Int64, overhead: Int64) {
    guard now < endsAt else { return (reply.sent, reply.received, reply.overhead) }
    let whole = startedAt.duration(to: endsAt).seconds
    let part = whole > 0 ? max(0, startedAt.duration(to: now).seconds) / whole : 1
    return (
      Int64(clamping: Double(reply.sent) * part), Int64(clamping: Double(reply.received) * part),
      Int64(clamping: Double(reply.overhead) * part)
    )
  }
}

/// The end of a simulated request. It no longer applies if the request was canceled afterwards.
struct Arrival: Comparable, Sendable {
  let at: Instant
  let id: UInt64

  static func < (a: Self, b: Self) -> Bool { (a.at, a.id) < (b.at, b.id) }
}
