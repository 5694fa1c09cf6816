/// A number of bytes that can be parsed from text.
package struct ByteCount: Hashable, Sendable {
  package var bytes: Int64

  /// Parses a size in the manifest's notation, such as `5MB` or `1GiB`.
  package init(written text: String) throws(QuantityMistake) {
    do {
      bytes = try Quantity(text, units: Quantity.sizes).amount
    } catch {
      let mistake = Quantity.mistake(
        error, in: text, isFromOutside: false, wanted: "a size such as 5MB", found: "", units: Quantity.sizes,
        largest: "8388607TiB")
      throw QuantityMistake(predicate: mistake.predicate, help: mistake.help)
    }
  }
}
