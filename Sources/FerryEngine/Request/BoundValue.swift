import FerryManifest
import FerryPlan

/// The text of a reference, and whether it may be shown.
package enum BoundValue: Hashable, Sendable {
  case plain(String)
  case sensitive(SensitiveValue)

  /// The text to send in the request.
  var text: String {
    switch self {
    case .plain(let text): text
    case .sensitive(let value): value.revealed
    }
  }

  var isSensitive: Bool {
    switch self {
    case .plain: false
    case .sensitive: true
    }
  }
}

extension CapturedValue {
  var bound: BoundValue { isSecret ? .sensitive(SensitiveValue(value)) : .plain(value) }
}

extension [String: BoundValue] {
  /// The values by name; if two captures have the same name, the last one is used.
  init(_ captures: [CapturedValue]) {
    self.init(captures.map { ($0.name, $0.bound) }) { $1 }
  }
}
