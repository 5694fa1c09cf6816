import FerryManifest
import FerryPlan

/// What responses gave for items, with the mask of every secret that is known. An item's secrets leave the mask with the
/// item's values, or a long run would search every text for all of them.
struct ItemValueStore {
  private var items: [ItemRef: ItemValues]
  private(set) var mask: SecretMask
  /// What belongs to no item: secrets, tokens, captures of requests.
  private(set) var lasting: SecretMask

  /// - Parameter secrets: what is masked to the end.
  init(_ items: [ItemRef: ItemValues], secrets: some Sequence<SensitiveValue>) {
    self.items = items
    mask = SecretMask(secrets.map(\.revealed))
    lasting = mask
    for values in items.values {
      for secret in values.secrets { mask.insert(secret) }
    }
  }

  subscript(ref: ItemRef) -> ItemValues? { items[ref] }

  mutating func update(_ ref: ItemRef, _ body: (inout ItemValues) -> Void) {
    var values = items[ref] ?? ItemValues()
    let before = values.secrets
    body(&values)
    items[ref] = values
    // New ones first: those that stay are then not built anew.
    for secret in values.secrets { mask.insert(secret) }
    for secret in before { mask.remove(secret) }
  }

  mutating func forget(_ ref: ItemRef) {
    guard let values = items.removeValue(forKey: ref) else { return }
    for secret in values.secrets { mask.remove(secret) }
  }

  /// Masks what belongs to no item, to the end.
  mutating func keepSecret(_ secret: String) {
    mask.insert(secret)
    lasting.insert(secret)
  }
}

extension ItemValues {
  fileprivate var secrets: [String] { (allocate + transfer).filter(\.isSecret).map(\.value) }
}
