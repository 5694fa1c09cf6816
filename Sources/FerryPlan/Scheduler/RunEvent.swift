/// Something that happened in a run, for the log and the event stream.
///
/// An event is encoded when it happens, and is not kept. It cannot be copied, because a copy of its strings takes as long
/// as encoding them.
package enum RunEvent: ~Copyable, Sendable {
  /// The run has acquired its sessions and begins.
  case started(at: Instant, run: String, manifests: [String])
  case request(Request)
  case ended(Ended)
  /// A session resumed in the background, and its next transfers are delayed.
  case resumed(at: Instant, session: String, period: Duration)
  /// Events that a file does not contain, because it could not be written fast enough.
  ///
  /// - Parameter at: the time of the last of them.
  case dropped(at: Instant, count: Int)
  /// The run's work has ended, and its report is stored.
  case finished(at: Instant, exitCode: Int32, report: String)

  /// A request that ended, successfully or not.
  package struct Request: ~Copyable, Sendable {
    package var at: Instant
    /// Present if the run has several manifests.
    package var manifest: String?
    package var node: String
    /// The path of the item; `nil` for a node with a single request.
    package var path: ArraySlice<UInt8>?
    package var step: Step.Kind
    /// The HTTP status; `nil` if there was no response.
    package var status: Int?
    /// The failure of a request without a response.
    package var code: FailureCode?
    /// The bytes of the request and its response.
    package var bytes: Int64
    package var duration: Duration
    /// `nil` if the request was not sent.
    package var phases: RequestPhases?
    /// The connections of a download that may use several; `nil` for any other request.
    package var segments: SegmentUse?

    package init(
      at: Instant, manifest: String? = nil, node: String, path: ArraySlice<UInt8>?, step: Step.Kind,
      status: Int? = nil, bytes: Int64, duration: Duration, phases: RequestPhases? = nil,
      segments: SegmentUse? = nil
    ) {
      (self.at, self.manifest, self.node, self.path, self.step) = (at, manifest, node, path, step)
      (self.status, self.bytes, self.duration) = (status, bytes, duration)
      (self.phases, self.segments) = (phases, segments)
    }
  }

  package var at: Instant {
    switch self {
    case .started(let at, _, _): at
    case .resumed(let at, _, _): at
    case .finished(let at, _, _): at
    case .dropped(let at, _): at
    case .request(let request): request.at
    case .ended(let item): item.at
    }
  }

  /// Whether `-v` prints the event: every event except the delivery of an item, which the item's requests
  /// already show.
  package var isNotable: Bool {
    switch self {
    case .started: true
    case .finished: true
    case .resumed: true
    case .dropped: true
    case .request: true
    case .ended(let item): item.state != .done || item.path == nil
    }
  }

  /// An item, or a node with a single request, that ended in this round.
  package struct Ended: ~Copyable, Sendable {
    package var at: Instant
    /// Present if the run has several manifests.
    package var manifest: String?
    package var node: String
    package var path: ArraySlice<UInt8>?
    package var size: Int64?
    package var state: ItemState
    package var reason: RecordedFailure?
  }
}

extension Scheduler {
  /// The end of a request as an event.
  package func event(_ attempt: Attempt, _ result: AttemptResult, at now: Instant) -> RunEvent {
    var event = RunEvent.Request(
      at: now, manifest: manifestName(attempt.ref.node), node: plan.nodes[attempt.ref.node.index].name,
      path: path(of: attempt.ref), step: attempt.step, bytes: result.traffic.total,
      duration: result.duration, phases: result.phases, segments: result.segments)
    switch result.answer {
    case .response(let response): event.status = response.status
    case .failure(let failure): event.code = FailureCode(failure.code)
    }
    return .request(event)
  }

  /// The end of an item or a single request as an event.
  package func event(ended ref: ItemRef, _ state: ItemState, _ failure: RecordedFailure?, at now: Instant)
    -> RunEvent
  {
    .ended(
      RunEvent.Ended(
        at: now, manifest: manifestName(ref.node), node: plan.nodes[ref.node.index].name,
        path: path(of: ref), size: size(of: ref), state: state, reason: failure))
  }

  private func manifestName(_ node: NodeID) -> String? {
    plan.manifests.count > 1 ? plan.manifests[plan.nodes[node.index].manifest.index] : nil
  }
}
