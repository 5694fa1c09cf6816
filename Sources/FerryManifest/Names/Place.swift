/// The position of a string in the manifest, which determines the references that are allowed in it.
enum Place: Hashable, Sendable {
  /// The text must be known before a run: only `vars` and `env` are allowed.
  case constant
  case session
  /// In `defaults`: all references that are allowed somewhere are allowed here. They are checked again in
  /// each place where the default applies.
  case defaults
  /// A token step's own request.
  case token(String)
  /// The value that a token step sets on the requests of other nodes.
  case apply(String)
  /// An upload, outside or inside its steps.
  case upload(String, Step?)
  /// A download batch; `listed` where the value must be known once the list has been read.
  case download(String, Part?)
  case fetch(String)
  case request(String)
  /// A request of `on_end`.
  case onEnd(String)

  enum Step: String, Sendable {
    case allocate
    case transfer
    case commit
    case abandon
  }

  enum Part: Sendable {
    case listed
  }

  /// The families of references that have a value here. `vars` and `env` have a value everywhere.
  var families: [Reference.Family] {
    switch self {
    case .constant: []
    case .session: [.secrets]
    case .defaults: Reference.Family.allCases
    case .token: [.secrets, .requests]
    case .apply: [.secrets, .token]
    case .upload(_, let step):
      switch step {
      case nil, .allocate: [.secrets, .file, .token, .requests]
      case .transfer: [.secrets, .file, .token, .allocate, .requests]
      case .commit, .abandon: [.secrets, .file, .token, .allocate, .transfer, .requests]
      }
    case .download(_, .listed): [.item]
    case .download(_, nil): [.secrets, .item, .token, .requests]
    case .fetch, .request: [.secrets, .token, .requests, .run]
    case .onEnd: [.secrets, .token, .run]
    }
  }

  /// The name for use in a message.
  var name: String {
    switch self {
    case .constant: "here"
    case .session: "in a session"
    case .defaults: "in 'defaults'"
    case .token: "in a token's own request"
    case .apply: "in 'apply'"
    case .upload(_, nil): "in an upload"
    case .upload(_, .some(let step)): "in '\(step.rawValue)'"
    case .download(_, .listed): "while a list is read"
    case .download(_, nil): "in a download batch"
    case .fetch: "in a fetch"
    case .request: "in a request"
    case .onEnd: "in a request of 'on_end'"
    }
  }

  func entering(_ step: Step) -> Place {
    if case .upload(let name, _) = self { .upload(name, step) } else { self }
  }

  /// The vertex of the dependency graph to which the position belongs; nil if it belongs to none.
  var vertex: GraphVertex? {
    switch self {
    case .constant, .session, .defaults: nil
    case .token(let name), .apply(let name): .token(name)
    case .upload(let name, _), .download(let name, _), .fetch(let name), .request(let name): .node(name)
    case .onEnd(let name): .onEnd(name)
    }
  }
}
