import FerryManifest

/// The state of an item in its round. The raw values are persisted and must never be reused.
package enum ItemState: UInt8, Codable, Sendable {
  case queued = 0
  /// The item holds an upload ID.
  case allocated = 1
  /// The server has the whole file.
  case transferred = 2
  case done = 3
  case failed = 4
  /// A commit or an unrepeatable step may have been executed, but its response is unknown; the user must
  /// decide.
  case ambiguous = 5
  case cancelled = 6

  /// Whether the item has ended in its round.
  package var isClosed: Bool {
    switch self {
    case .queued, .allocated, .transferred: false
    case .done, .failed, .ambiguous, .cancelled: true
    }
  }
}

/// The steps of an item, as recorded in intents. The raw values are persisted and must never be reused.
package enum ItemStep: UInt8, Codable, Sendable {
  case allocate = 1
  case transfer = 2
  case commit = 3
  /// A commit that may have been executed and that the user has decided to send again. No launch has
  /// prepared to send it since that decision.
  case commitAgain = 4
  /// A commit to which the server responded that it was temporarily unable to execute it. The commit is sent again,
  /// but its upload ID is not released, because an overloaded server may have executed the commit.
  case commitDeferred = 5
}

extension Step.Kind {
  /// The step as it is recorded in an item's intent; `nil` for steps that are never recorded there.
  package var itemStep: ItemStep? {
    switch self {
    case .allocate: .allocate
    case .transfer: .transfer
    case .commit: .commit
    case .token, .probe, .fetch, .download, .request, .abandon: nil
    }
  }
}

/// A value captured from a response.
package struct CapturedValue: Hashable, Sendable {
  package var name: String
  package var value: String
  /// Whether the value is stored in a column that is never printed or exported.
  package var isSecret: Bool

  package init(name: String, value: String, isSecret: Bool) {
    self.name = name
    self.value = value
    self.isSecret = isSecret
  }
}

extension CapturedValue: CustomStringConvertible, CustomReflectable {
  /// A secret is printed as `***`, even within other values.
  package var description: String { "\(name): \(isSecret ? SensitiveValue(value).description : value)" }
  package var customMirror: Mirror { Mirror(self, children: ["capture": description]) }
}

extension [CapturedValue] {
  /// The size of the values together, in bytes.
  package var size: Int { reduce(0) { $0 + $1.value.utf8.count } }
}
