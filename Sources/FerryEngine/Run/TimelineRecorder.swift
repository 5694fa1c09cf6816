import FerryPlan

/// Records the progress of a run over time, for the run's report. The recorder's memory and time are bounded, because
/// it takes samples at intervals, not for each item.
struct TimelineRecorder: Sendable {
  private let startedAt: Instant
  private var interval = Duration.milliseconds(50)
  private var next: Instant
  private var last: Instant
  private var timeline = RunTimeline(intervalSeconds: 0, durationSeconds: 0)
  /// The spans of each node.
  private var spans: [[RunTimeline.Span]] = []

  /// The largest number of spans of all nodes together, and the largest number of resumes.
  private static let mostSpans = 20_000
  private static let mostResumes = 1000

  init(startedAt: Instant) {
    self.startedAt = startedAt
    next = startedAt
    last = startedAt
    append(0, 0, 0, 0)
  }

  /// Takes a sample if one is due.
  ///
  /// - Parameter moving: returns the traffic of the requests in flight; called only for a sample.
  mutating func turn(_ scheduler: Scheduler, _ moving: @autoclosure () -> Traffic, at now: Instant) {
    guard now >= next else { return }
    take(scheduler, moving(), at: now)
    // An idle loop takes no turns. Samples that were missed are not taken later, because the run did nothing in the
    // meantime.
    next = max(now, next).advanced(by: interval)
  }

  private mutating func take(_ scheduler: Scheduler, _ moving: Traffic, at now: Instant) {
    while offset(now) / interval.seconds >= Double(RunTimeline.maximumCount - 1) { thin() }
    // An idle time is filled with copies of the last sample, so that the samples are at equal distances.
    let due = Int(offset(now) / interval.seconds)
    while timeline.bytes.count < due, let bytes = timeline.bytes.last {
      append(bytes, timeline.requests.last ?? 0, timeline.itemsDone.last ?? 0, timeline.inFlight.last ?? 0)
    }
    append(
      scheduler.metrics.traffic.total +| moving.total, scheduler.metrics.requests,
      scheduler.metrics.itemsDone,
      scheduler.inFlight)
    let (from, to) = (offset(last), offset(now))
    last = now
    let activities = scheduler.activities
    while spans.count < activities.count { spans.append([]) }
    for (node, activity) in activities.enumerated() {
      guard let activity else { continue }
      if let end = spans[node].indices.last, spans[node][end].activity == activity,
        spans[node][end].to >= from
      {
        spans[node][end].to = to
      } else {
        spans[node].append(.init(activity, from: from, to: to))
      }
    }
    if spans.reduce(0, { $0 + $1.count }) > Self.mostSpans { mergeSpans() }
  }

  private mutating func append(_ bytes: Int64, _ requests: Int, _ itemsDone: Int, _ inFlight: Int) {
    timeline.bytes.append(bytes)
    timeline.requests.append(requests)
    timeline.itemsDone.append(itemsDone)
    timeline.inFlight.append(inFlight)
  }

  mutating func resumed(_ session: String, period: Duration, at now: Instant) {
    guard timeline.resumes.count < Self.mostResumes else { return }
    timeline.resumes.append(.init(session: session, at: offset(now), periodSeconds: period.seconds))
  }

  /// The timeline at the end of the run's work.
  func ended(_ scheduler: Scheduler, at now: Instant) -> RunTimeline {
    var last = self
    last.take(scheduler, Traffic(), at: now)
    var timeline = last.timeline
    timeline.intervalSeconds = interval.seconds
    timeline.durationSeconds = offset(now)
    timeline.nodes = scheduler.plan.nodes.indices.compactMap { index in
      guard index < last.spans.count, !last.spans[index].isEmpty else { return nil }
      let node = scheduler.plan.nodes[index]
      return .init(
        manifest: scheduler.plan.manifests.count > 1 ? scheduler.plan.manifests[node.manifest.index] : nil,
        name: node.name, spans: last.spans[index])
    }
    return timeline
  }

  /// Drops every second sample, and doubles the interval.
  private mutating func thin() {
    func half<Value>(_ values: [Value]) -> [Value] {
      stride(from: 0, to: values.count, by: 2).map { values[$0] }
    }
    timeline.bytes = half(timeline.bytes)
    timeline.requests = half(timeline.requests)
    timeline.itemsDone = half(timeline.itemsDone)
    timeline.inFlight = half(timeline.inFlight)
    interval = interval * 2
  }

  /// Joins neighboring spans; the longer one of each pair determines the activity.
  private mutating func mergeSpans() {
    spans = spans.map { all in
      stride(from: 0, to: all.count, by: 2).map { index in
        guard index + 1 < all.count else { return all[index] }
        let (a, b) = (all[index], all[index + 1])
        return .init(a.to - a.from >= b.to - b.from ? a.activity : b.activity, from: a.from, to: b.to)
      }
    }
  }

  /// Seconds since the start of the run, with a resolution of milliseconds.
  private func offset(_ now: Instant) -> Double {
    (max(0, startedAt.duration(to: now).seconds) * 1000).rounded() / 1000
  }
}
