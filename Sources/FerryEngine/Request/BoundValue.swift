import FerryManifest
import FerryPlan

/// The text that a reference stands for, and whether it may be shown.
package enum BoundValue: Hashable, Sendable {
  case plain(String)
  case sensitive(SensitiveValue)

  /// For the request that carries it.
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
  /// By name; of two captures of one name the later.
  init(_ captures: [CapturedValue]) {
    self.init(captures.map { ($0.name, $0.bound) }) { $1 }
  }
}
