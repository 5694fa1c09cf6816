/// The defaults that a profile sets. The table in docs/urlsession.md has the source of each value.
struct ProfileDefaults {
  var discretionary: Session.Discretionary
  var budgetsBind: Budget.Binding
  var resumeDelay: ResumeDelay
  var executionWindow: ExecutionWindow
  var forceQuit: ForceQuit
}

extension Profile {
  var defaults: ProfileDefaults {
    switch self {
    case .server:
      ProfileDefaults(
        discretionary: .no, budgetsBind: .all,
        resumeDelay: ResumeDelay(policy: .none, reset: .idle),
        executionWindow: ExecutionWindow(),
        forceQuit: .cancelTasks)
    case .ios7:
      ProfileDefaults(
        discretionary: .inferred, budgetsBind: .discretionary,
        resumeDelay: ResumeDelay(policy: .afterCompletion, reset: .foreground),
        executionWindow: .phone(foreground: .seconds(180)),
        forceQuit: .removeSession)
    case .ios:
      ProfileDefaults(
        discretionary: .inferred, budgetsBind: .discretionary,
        resumeDelay: ResumeDelay(policy: .beforeStart, reset: .foreground),
        executionWindow: .phone(foreground: .seconds(180)),
        forceQuit: .cancelTasks)
    case .ios13:
      ProfileDefaults(
        discretionary: .inferred, budgetsBind: .discretionary,
        resumeDelay: ResumeDelay(policy: .beforeStart, reset: .foreground),
        executionWindow: .phone(foreground: .seconds(30)),
        forceQuit: .cancelTasks)
    }
  }
}

extension ExecutionWindow {
  /// - Parameter foreground: the time limit after an app has left the foreground, which depends on the version of iOS.
  fileprivate static func phone(foreground: Duration) -> Self {
    Self(
      foreground: foreground, background: .seconds(30), fetch: .seconds(30), event: .seconds(30),
      resume: .seconds(30))
  }

  package init(_ profile: Profile) { self = profile.defaults.executionWindow }
}

extension ResumeDelay {
  package init(_ profile: Profile) { self = profile.defaults.resumeDelay }
}

extension ForceQuit {
  package init(_ profile: Profile) { self = profile.defaults.forceQuit }
}

extension Budget.Binding {
  package init(_ profile: Profile) { self = profile.defaults.budgetsBind }
}

extension Session.Discretionary {
  package init(_ profile: Profile) { self = profile.defaults.discretionary }
}
