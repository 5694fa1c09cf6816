import FerryManifest

/// Where an item stands in its round. Raw values are written down; never reuse one.
package enum ItemState: UInt8, Codable, Sendable {
  case queued = 0
  /// It holds an upload ID.
  case allocated = 1
  /// The server has the whole file.
  case transferred = 2
  case done = 3
  case failed = 4
  /// An unrepeatable step was sent and its answer is not known; a person decides.
  case ambiguous = 5
  case cancelled = 6

  /// Whether nothing is left to do for it in its round.
  package var isClosed: Bool {
    switch self {
    case .queued, .allocated, .transferred: false
    case .done, .failed, .ambiguous, .cancelled: true
    }
  }
}

/// The steps an item goes through, as intents name them. Raw values are written down; never reuse one.
package enum ItemStep: UInt8, Codable, Sendable {
  case allocate = 1
  case transfer = 2
  case commit = 3
  /// A commit that may have been carried out, and that a person wants to be sent again: no launch has been about to.
  case commitAgain = 4
}

/// What a capture took from an answer.
package struct CapturedValue: Hashable, Sendable {
  package var name: String
  package var value: String
  /// Kept in a column that is never printed or exported.
  package var isSecret: Bool

  package init(name: String, value: String, isSecret: Bool) {
    self.name = name
    self.value = value
    self.isSecret = isSecret
  }
}

extension CapturedValue: CustomStringConvertible, CustomReflectable {
  /// A secret one prints as `***`, also within other values.
  package var description: String { "\(name): \(isSecret ? SensitiveValue(value).description : value)" }
  package var customMirror: Mirror { Mirror(self, children: ["capture": description]) }
}
