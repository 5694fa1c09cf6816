extension ValueKind where Value == Duration {
  /// A duration of at most a century, which every clock can represent.
  static func duration(atLeast least: Duration = .zero) -> Self {
    Self(.duration, text: { Quantity.text($0.milliseconds, units: Quantity.durations) }) { node, decoder in
      let wanted = Quantity.wantedDuration
      guard let text = decoder.quantityText(node, wanted: wanted) else { return nil }
      do {
        let duration = try Quantity.duration(text)
        guard duration >= least else {
          let shortest = Quantity.text(least.milliseconds, units: Quantity.durations)
          decoder.report(
            .outOfRange, at: node.location, "\(decoder.owner.value.quoted) must be at least \(shortest)",
            help: "write \(shortest) or more")
          return nil
        }
        return duration
      } catch {
        decoder.report(
          error, of: node, text, wanted: wanted, units: Quantity.durations, largest: Quantity.largestDuration)
        return nil
      }
    }
  }
}

extension ValueKind where Value == Duration? {
  /// A duration, or `none`.
  static var durationOrNone: Self {
    let duration = ValueKind<Duration>.duration()
    return Self(
      .either([duration.form, .choice(["none"])]), text: { $0.map(duration.text) ?? "none" }
    ) { node, decoder in
      if node.scalar?.text == "none" { return .some(nil) }
      return duration.decode(node, &decoder).map { .some($0) }
    }
  }
}

extension ValueKind where Value == Int64 {
  /// A number of bytes, at least 1.
  static var size: Self {
    Self(.size, text: { Quantity.text($0, units: Quantity.sizes) }) { node, decoder in
      let wanted = "a size such as 500MB"
      guard let text = decoder.quantityText(node, wanted: wanted) else { return nil }
      do {
        let bytes = try Quantity(text, units: Quantity.sizes).amount
        guard bytes > 0 else {
          decoder.report(
            .outOfRange, at: node.location, "\(decoder.owner.value.quoted) must be at least 1B",
            help: "write 1B or more")
          return nil
        }
        return bytes
      } catch {
        decoder.report(error, of: node, text, wanted: wanted, units: Quantity.sizes, largest: "8388607TiB")
        return nil
      }
    }
  }
}

extension ManifestDecoder {
  fileprivate mutating func quantityText(_ node: YAMLNode, wanted: String) -> String? {
    constant(node, wanted: wanted)
  }

  fileprivate mutating func report(
    _ problem: any Error, of node: YAMLNode, _ text: String, wanted: String,
    units: [(name: String, size: Int64)],
    largest: String
  ) {
    let mistake = Quantity.mistake(
      problem as? Quantity.Problem ?? .malformed, in: text, isFromOutside: isFromOutside, wanted: wanted,
      found: node.foundWord, units: units, largest: largest)
    report(
      mistake.code, at: node.location, "\(owner.value.quoted) \(mistake.predicate)", help: mistake.help)
  }
}

extension Duration {
  /// Whole milliseconds; any remainder is dropped.
  var milliseconds: Int64 {
    components.seconds * 1_000 + components.attoseconds / 1_000_000_000_000_000
  }
}
