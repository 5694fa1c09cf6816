import FerryManifest
import FerryPlan

/// The values that responses provided for items, and the mask of every known secret.
///
/// An item's secrets leave the mask together with the item's values. Otherwise a long run would search every text for
/// the secrets of all its items.
struct ItemValueStore {
  private var items: [ItemRef: ItemValues]
  private(set) var mask: SecretMask
  /// Secrets that belong to no item: secrets of manifests, tokens, captures of requests.
  private(set) var lasting: SecretMask

  /// - Parameter secrets: masked until the run ends.
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
    // Insert the new secrets first, so that the mask is not rebuilt for those that remain.
    for secret in values.secrets { mask.insert(secret) }
    for secret in before { mask.remove(secret) }
  }

  mutating func forget(_ ref: ItemRef) {
    guard let values = items.removeValue(forKey: ref) else { return }
    for secret in values.secrets { mask.remove(secret) }
  }

  /// Masks a secret that belongs to no item until the run ends.
  mutating func keepSecret(_ secret: String) {
    mask.insert(secret)
    lasting.insert(secret)
  }
}

extension ItemValues {
  fileprivate var secrets: [String] { (allocate + transfer).filter(\.isSecret).map(\.value) }
}
