import FerryPlan

extension JournalWrite {
  /// How soon a write must be on disk.
  enum SyncNeed {
    case none, immediate
    /// Together with further intents, until there are `group` of them.
    case grouped(group: Int)
  }

  /// How soon the write must be on disk. The step that an intent announces is not sent before.
  var syncNeed: SyncNeed {
    switch self {
    case .intent(_, _, _, .requestOnly(let group)): .grouped(group: group)
    case .intent(_, _, _, .connection), .nodeIntent: .immediate
    case .insert, .requeue, .adopt, .withdraw, .allocated, .confirmedBytes, .transferred, .released, .closed,
      .source,
      .confirmed, .after, .afterTried, .nodeWithdraw, .nodeClosed, .fetchFailed, .nodeFailing, .resumed,
      .foreground,
      .events, .orphaned,
      .orphanSettled, .orphanDoubted, .orphanKept, .servers:
      .none
    }
  }

  /// Whether the write records a server's response. If it were lost in a power failure, ferry would send the
  /// request again.
  var isOutcome: Bool {
    switch self {
    case .allocated, .transferred, .released, .closed, .nodeClosed, .fetchFailed, .orphanSettled,
      .orphanDoubted:
      true
    // These writes record no response. For `after` actions, the state of the files shows the result.
    case .insert, .requeue, .adopt, .intent, .withdraw, .confirmedBytes, .source, .confirmed, .after,
      .afterTried, .nodeIntent,
      .nodeWithdraw, .nodeFailing, .resumed, .foreground, .events, .orphaned, .orphanKept, .servers:
      false
    }
  }

  /// The approximate memory that the write occupies while it waits, in bytes.
  var weight: Int {
    switch self {
    case .insert(_, _, _, _, let files): 128 + files.paths.count + 24 * files.count
    case .requeue(_, _, let files, _): 128 + 24 * files.count
    case .adopt(_, _, let rows): 128 + 8 * rows.count
    case .confirmed(let files): 128 + 64 * files.count
    case .allocated(_, let captures, _), .transferred(_, let captures, _): 192 + Self.weight(captures)
    case .nodeClosed(_, let closing): 256 + Self.weight(closing.captures)
    case .closed(_, _, _, let failure, _): 128 + (failure?.message.utf8.count ?? 0)
    case .orphanKept(_, let failure, _), .fetchFailed(_, _, let failure, _): 128 + failure.message.utf8.count
    case .intent, .withdraw, .confirmedBytes, .released, .source, .after, .afterTried, .nodeIntent,
      .nodeWithdraw, .nodeFailing, .resumed,
      .foreground, .events, .orphaned, .orphanSettled, .orphanDoubted, .servers:
      128
    }
  }

  private static func weight(_ captures: [CapturedValue]) -> Int {
    captures.reduce(0) { $0 + 64 + $1.name.utf8.count + $1.value.utf8.count }
  }
}
