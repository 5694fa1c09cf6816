import FerryManifest

/// What fits the budgets at all, however little of them is used.
extension Plan {
  /// Whether a file or a document of this size fits the budgets of at least one network that its session may use. A hard
  /// budget needs room only for one request of a transfer that continues in the next window.
  package func canEverFit(_ size: Int64, of node: NodeID, isDiscretionary: Bool) -> Bool {
    sessions[nodes[node.index].session.index].networks.contains { network in
      let budgets = policies.budgets.limits(on: network, isDiscretionary: isDiscretionary).map(\.budget)
      var wanted = size
      let timeout = sessions[nodes[node.index].session.index].timeoutForResource
      if case .upload(let work) = nodes[node.index].work,
        work.continuesInOtherWindows(size, budgets, within: timeout),
        let machine = work.transferProtocol.machine
      {
        wanted = machine.longestRequest(size: size)
      }
      return budgets.allSatisfy { $0.cutoff == .soft || wanted <= $0.limit }
    }
  }

  /// Whether the budgets of at least one network that the node's session may use have room for this number of bytes.
  func budgetsAllow(_ bytes: Int64, of node: NodeID, isDiscretionary: Bool) -> Bool {
    sessions[nodes[node.index].session.index].networks.contains { network in
      policies.budgets.limits(on: network, isDiscretionary: isDiscretionary)
        .allSatisfy { $0.budget.cutoff == .soft || bytes <= $0.budget.limit }
    }
  }
}

extension UploadWork {
  /// Whether a transfer stops between two requests when one of these budgets is used up, and continues in the
  /// budget's next window. This requires that a budget is hard, and that neither the upload ID nor the item
  /// expires before the last window that the file needs.
  ///
  /// - Parameter timeout: `timeout_for_resource`.
  func continuesInOtherWindows(
    _ size: Int64, _ budgets: [Budget], within timeout: Duration
  ) -> Bool {
    guard let machine = transferProtocol.machine, machine.requestCount(size: size) > 1,
      budgets.contains(where: { $0.cutoff == .hard })
    else { return false }
    let life = min(validFor ?? timeout, timeout)
    let longest = max(machine.longestRequest(size: size), 1)
    return budgets.allSatisfy { budget in
      // Whole requests fit in a window, and the first window may be used up almost completely.
      let perWindow = max(budget.limit / longest * longest, 1)
      let windows = (size - 1) / perWindow + 2
      return life.seconds > budget.per.longestSpan.seconds * Double(windows)
    }
  }
}

extension Budget.Window {
  /// The greatest length of a window.
  fileprivate var longestSpan: Duration {
    switch self {
    case .hour: .seconds(3_600)
    // Days have 25 hours when clocks are set back.
    case .day: .seconds(25 * 3_600)
    case .week: .seconds(7 * 86_400 + 3_600)
    case .month: .seconds(31 * 86_400 + 3_600)
    }
  }
}

extension SessionPlan {
  /// The networks that the session's requests may use.
  package var networks: [DeviceConditions.Network] {
    DeviceConditions.Network.allCases.filter { network in
      switch network {
      case .wifi, .wired: true
      // A cellular network is always metered.
      case .cellular: allowsCellular && allowsExpensive
      case .none: false
      }
    }
  }
}

extension RecordedFailure {
  /// The failure of an item that does not fit any budget.
  static func neverFits(_ size: Int64) -> RecordedFailure {
    .init(
      code: .budgetNever,
      message: "\(ByteText.text(size)) is larger than the budget of any network that its session may use")
  }

  /// The failure of a request whose body is larger than it was at the last attempt.
  static func grown(to size: Int64) -> RecordedFailure {
    .init(
      code: FailureCode(.sourceChanged),
      message: "the body of the request has grown to \(ByteText.text(size))")
  }

  /// The failure of a request whose body the server requires several times.
  static func neverFits(_ bytes: Int64, copies: Int64) -> RecordedFailure {
    .init(
      code: .budgetNever,
      message:
        "the server requires the body \(copies) times; these \(ByteText.text(bytes)) are more than the budget of "
        + "any network that its session may use")
  }

  /// The failure of a download of unknown size whose response does not fit any budget.
  static func neverFits(moreThan size: Int64) -> RecordedFailure {
    .init(
      code: .budgetNever,
      message: "the response has more than \(ByteText.text(size)), "
        + "which is larger than the budget of any network that its session may use")
  }
}
