import FerryJournal
import FerryPlan
import FerryProcess

/// What a run listens to beside its own requests: signals, the machine's conditions, its sessions' inboxes.
final class RunEventSources {
  private let signals: StopSignals
  private let conditions: ConditionsWatch?
  private let inboxes: [InboxWatch]

  /// - Parameters:
  ///   - hangUp: what SIGHUP means.
  ///   - look: finds out what the machine has; `nil` where nothing depends on it. It may wait for other programs,
  ///     and has a thread of its own.
  ///   - sessions: identifiers.
  init(
    messages: RunMessageQueue, hangUp: RunMessage, look: (@Sendable () -> DeviceConditions)?,
    sessions: [String],
    in state: StateDirectory, threads: RunThreads
  ) throws(JournalError) {
    signals = StopSignals(hangUp: hangUp, on: threads.events) { messages.post($0) }
    conditions = look.map { look in
      ConditionsWatch(on: threads.events) { [probe = threads.probe] in
        probe.submit { messages.post(.conditions(look())) }
      }
    }
    var inboxes: [InboxWatch] = []
    for session in sessions {
      inboxes.append(
        try InboxWatch(session: session, in: state, on: threads.events) { messages.post(.inbox) })
    }
    self.inboxes = inboxes
    // A note that was left before the watch began.
    messages.post(.inbox)
  }
}
