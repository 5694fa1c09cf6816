/// For each kind of step, the properties that do not depend on the manifest. The scheduler's decisions are
/// based on this table.
extension Step.Kind {
  struct Traits: Sendable {
    /// When a step of this kind is sent, relative to the priorities of uploads.
    let turn: Turn
    /// Among steps of equal priority, later stages go first, so that work in progress ends before more
    /// begins. 0 is the highest rank.
    let rank: UInt64
    /// The content of a file that the step transfers; `nil` for small requests.
    let content: Content?
    let budget: BudgetRule

    enum Turn: Sendable {
      /// The step is sent before all steps with a priority.
      case first
      /// The priority of the step's upload applies; a node with a single request has the middle priority.
      case byPriority
      /// The step is sent after all steps with a priority.
      case last
    }

    enum Content: Sendable { case sent, received }

    /// Whether a step waits for a budget. The bytes of all steps count against budgets, regardless of this
    /// rule.
    enum BudgetRule: Sendable {
      /// The step is small, and never waits.
      case never
      /// The step waits for a reservation.
      case reserves
      /// The step is retried in the next run instead of waiting for another window.
      case defers
    }
  }

  var traits: Traits {
    switch self {
    case .token: Traits(turn: .first, rank: 0, content: nil, budget: .never)
    case .commit: Traits(turn: .byPriority, rank: 1, content: nil, budget: .never)
    case .probe: Traits(turn: .byPriority, rank: 1, content: nil, budget: .never)
    case .transfer: Traits(turn: .byPriority, rank: 2, content: .sent, budget: .reserves)
    case .download: Traits(turn: .byPriority, rank: 2, content: .received, budget: .reserves)
    case .allocate: Traits(turn: .byPriority, rank: 3, content: nil, budget: .never)
    case .fetch: Traits(turn: .byPriority, rank: 3, content: .received, budget: .reserves)
    case .request: Traits(turn: .byPriority, rank: 3, content: nil, budget: .reserves)
    case .abandon: Traits(turn: .last, rank: 4, content: nil, budget: .defers)
    }
  }
}
