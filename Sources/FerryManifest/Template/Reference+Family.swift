extension Reference {
  /// The first word of a reference.
  enum Family: String, CaseIterable, Sendable {
    case secrets
    case file
    case item
    case token
    case allocate
    case transfer
    case requests
    case run
  }

  var family: Family {
    switch self {
    case .secret: .secrets
    case .file: .file
    case .item: .item
    case .token: .token
    case .allocate: .allocate
    case .transfer: .transfer
    case .request: .requests
    case .run: .run
    }
  }
}
