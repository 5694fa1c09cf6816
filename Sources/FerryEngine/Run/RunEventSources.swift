import FerryJournal
import FerryPlan
import FerryProcess

/// The events that a run receives in addition to those of its requests: signals, changes of the machine's
/// conditions, the termination of its commands, and notes in the inboxes of its sessions.
final class RunEventSources {
  private let signals: StopSignals
  private let conditions: ConditionsWatch?
  private let inboxes: [InboxWatch]
  private let children: ChildWatch?

  /// - Parameters:
  ///   - hangUp: the message to post on SIGHUP.
  ///   - onStop: called when a signal stops the run, on the thread for events.
  ///   - look: determines the machine's conditions; `nil` if they do not affect the run. It may wait for
  ///     other programs, so it runs on a separate thread.
  ///   - sessions: session identifiers.
  ///   - startsCommands: whether the run may start commands. If so, it is notified when one of them ends.
  init(
    messages: Mailbox<RunMessage>, hangUp: RunMessage, onStop: @escaping @Sendable () -> Void,
    look: (@Sendable () -> DeviceConditions)?,
    sessions: [String], startsCommands: Bool,
    in state: StateDirectory, threads: RunThreads
  ) throws(JournalError) {
    signals = StopSignals(hangUp: hangUp, on: threads.events) { message in
      messages.post(message)
      if message.isStop { onStop() }
    }
    conditions = look.map { look in
      ConditionsWatch(on: threads.events) { [probe = threads.probe] in
        probe.submit { messages.post(.conditions(look())) }
      }
    }
    children = startsCommands ? ChildWatch(on: threads.events) { messages.post(.childEnded) } : nil
    var inboxes: [InboxWatch] = []
    for session in sessions {
      inboxes.append(
        try InboxWatch(session: session, in: state, on: threads.events) { messages.post(.inbox) })
    }
    self.inboxes = inboxes
    // Handle notes that arrived before the watch began.
    messages.post(.inbox)
  }
}
