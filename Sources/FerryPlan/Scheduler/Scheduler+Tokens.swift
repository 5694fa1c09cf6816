import FerryManifest

/// Tokens. One refresh at a time serves all waiting steps.
extension Scheduler {
  /// Returns whether the step's token can be used now. If not, requests the token and lets the step wait for it.
  mutating func isTokenReady(for ready: Ready) -> Bool {
    guard let node = steps[ready.ref.node, ready.step].step.token else { return true }
    guard var token = tokens[node.index] else { preconditionFailure("a token must be a token node") }
    switch token.phase {
    case .failed(let failure):
      leave(ready.ref, failure)
      return false
    case .valid where !needsRefresh(node, token):
      return true
    case .valid, .absent:
      withdrawIntent(ready.ref)
      token.phase = .fetching
      token.waiters.append(ready)
      tokens[node.index] = token
      if token.generation > 0 { metrics.tokenRefreshes += 1 }
      nodes[node.index].attempts = AttemptHistory()
      enqueue(ItemRef(node), .token)
      return false
    case .fetching:
      withdrawIntent(ready.ref)
      tokens[node.index]?.waiters.append(ready)
      return false
    }
  }

  /// Whether the step's token can be used now. Unlike `isTokenReady`, this method does not change anything.
  func hasToken(for step: Step) -> Bool {
    guard let node = step.token else { return true }
    guard let token = tokens[node.index], case .valid = token.phase else { return false }
    return !needsRefresh(node, token)
  }

  /// Whether a token is due for its refresh, `before_expiry` before it expires. If its lifetime is less than
  /// twice `before_expiry`, it is refreshed after half of its lifetime.
  private func needsRefresh(_ node: NodeID, _ token: TokenState) -> Bool {
    guard let expires = token.expires, case .token(let work) = plan.nodes[node.index].work else {
      return false
    }
    let life = token.fetchedAt.duration(to: expires)
    // If the token had expired on arrival, the clocks differ. Such a token is not refreshed, because refreshes would
    // never end; a rejection shows whether it is invalid.
    guard life > .zero else { return false }
    let margin = min(work.refresh.beforeExpiry, life / 2)
    return now >= expires.advanced(by: .zero - margin)
  }

  mutating func finishToken(_ flight: Flight, _ result: AttemptResult, _ verdict: Verdict) {
    let node = flight.attempt.ref.node
    switch verdict {
    case .succeeded, .partial, .unchanged:
      tokens[node.index]?.phase = .valid
      tokens[node.index]?.generation += 1
      tokens[node.index]?.fetchedAt = now
      tokens[node.index]?.expires =
        if case .response(let response) = result.answer { response.expires } else { nil }
      nodes[node.index].attempts = nil
      metrics.tokensFetched += 1
      let waiters = tokens[node.index]?.waiters ?? []
      tokens[node.index]?.waiters = []
      for ready in waiters { enqueue(ready) }
    case .transient(let failure, let retryAfter, let scope, _):
      retry(flight, failure, retryAfter: retryAfter, scope: scope)
    case .permanent(let failure) where result.answer.hasRunOut: leave(flight.attempt.ref, failure)
    case .permanent(let failure), .conditionRefused(let failure), .unauthorized(let failure),
      .uploadIDGone(let failure), .uploadIDRefused(let failure), .otherServer(let failure),
      .answerLost(let failure), .notCommitted(let failure), .integrity(let failure):
      // A failed release does not change the run's exit code.
      if isWantedByItems(node) { note(.authorization, of: node) }
      fail(
        token: node,
        .init(
          code: .token, status: failure.status, message: "token: \(failure.message)", detail: failure.detail))
    case .limited(let failure): fail(token: node, failure)
    case .cancelled:
      switch flight.interruption {
      case .conditions where stop == nil: enqueue(flight.attempt.ref, .token)
      case .expired: fail(token: node, .expired)
      case .conditions, .cancelled, .refused, .superseded, nil: fail(token: node, stopReason)
      }
    }
  }

  /// Marks the token as failed. All work that waits for it remains for a later launch, which fetches the
  /// token again.
  mutating func fail(token node: NodeID, _ failure: RecordedFailure) {
    tokens[node.index]?.phase = .failed(failure)
    nodes[node.index].failure = failure
    let waiters = tokens[node.index]?.waiters ?? []
    tokens[node.index]?.waiters = []
    for ready in waiters { leave(ready.ref, failure) }
  }

  /// Invalidates a token that was rejected. Only the newest token is refreshed. Returns whether the rejection
  /// is new.
  mutating func invalidate(token node: NodeID, generation: Int) -> Bool {
    guard tokens[node.index]?.generation == generation, case .valid? = tokens[node.index]?.phase else {
      return false
    }
    tokens[node.index]?.phase = .absent
    return true
  }
}
