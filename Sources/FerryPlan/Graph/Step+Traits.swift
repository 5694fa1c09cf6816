/// What each kind of step is, apart from the manifest: the table that the scheduler decides by.
extension Step.Kind {
  struct Traits: Sendable {
    /// When it is sent, relative to the priorities of uploads.
    let turn: Turn
    /// Among steps of one priority, those of later stages go first, so that begun work ends before more begins.
    /// 0 is the highest.
    let rank: UInt64
    /// The content of a file that it transfers; `nil` for small requests.
    let content: Content?
    let budget: BudgetRule

    enum Turn: Sendable {
      /// Before everything that has a priority.
      case first
      /// By the priority of its upload; a node with a single request has the middle priority.
      case byPriority
      /// After everything that has a priority.
      case last
    }

    enum Content: Sendable { case sent, received }

    /// How it counts against the budget of a discretionary session. All bytes are counted; this is about waiting.
    enum BudgetRule: Sendable {
      /// It is small, and never waits.
      case never
      /// It waits for a reservation.
      case reserves
      /// It is tried again in the next run, instead of waiting for another window.
      case defers
    }
  }

  var traits: Traits {
    switch self {
    case .token: Traits(turn: .first, rank: 0, content: nil, budget: .never)
    case .commit: Traits(turn: .byPriority, rank: 1, content: nil, budget: .never)
    case .probe: Traits(turn: .byPriority, rank: 1, content: nil, budget: .never)
    case .transfer: Traits(turn: .byPriority, rank: 2, content: .sent, budget: .reserves)
    case .allocate: Traits(turn: .byPriority, rank: 3, content: nil, budget: .never)
    case .fetch: Traits(turn: .byPriority, rank: 3, content: .received, budget: .reserves)
    case .request: Traits(turn: .byPriority, rank: 3, content: nil, budget: .reserves)
    case .abandon: Traits(turn: .last, rank: 4, content: nil, budget: .defers)
    }
  }
}
