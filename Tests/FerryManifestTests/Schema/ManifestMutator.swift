import FerryManifest

/// Changes manifests at random. Equal seeds result in equal changes.
struct ManifestMutator {
  private var random: Seeded
  /// The manifests to change, from which values are also taken.
  private let manifests: [OrderedJSON]
  private var valuesByKey: [String: [OrderedJSON]] = [:]
  private let keys: [String]

  /// Values that any key may get, in addition to those that the manifests contain.
  private static let values: [OrderedJSON] =
    [
      .null, .bool(true), .bool(false), .integer(0), .integer(1), .integer(5), .integer(-1), .integer(200),
      .integer(.max), .number(0.5), .number(1.5), .number(.infinity), .array([]), .object([]),
    ]
    + [
      "", "none", "text", "true", "null", "5", "0.5", "30s", "5MB", "5 MB", "0w", "9999999w", "${vars.none}",
      "$${",
      "${env.NOPE:-30s}", "${env.NOPE:-5}", "${env.NOPE:-0.5}", "${env.NOPE:-true}", "${env.NOPE:-none}",
      "${env.NOPE:-1}MB", "/a", "quick", "http://127.0.0.1/", "GET", "é", "a\nb", "${run.id}",
    ].map(OrderedJSON.string)

  init(_ manifests: [OrderedJSON], seed: UInt64) {
    random = Seeded(state: seed)
    self.manifests = manifests
    for manifest in manifests { Self.collect(manifest, into: &valuesByKey) }
    valuesByKey[""] = manifests
    keys = valuesByKey.keys.sorted()
  }

  /// One of the manifests, with one or two changes.
  mutating func next() -> OrderedJSON {
    let manifest = changed(manifests[pick(manifests.count)], at: "")
    return pick(3) == 0 ? changed(manifest, at: "") : manifest
  }

  private static func collect(_ value: OrderedJSON, into values: inout [String: [OrderedJSON]]) {
    switch value {
    case .array(let elements): elements.forEach { collect($0, into: &values) }
    case .object(let members):
      for member in members {
        values[member.name, default: []].append(member.value)
        collect(member.value, into: &values)
      }
    case .null, .bool, .integer, .number, .string: break
    }
  }

  private mutating func pick(_ count: Int) -> Int { Int.random(in: 0..<count, using: &random) }

  /// Descends at random, and changes the node where it stops. The result usually still resembles a manifest.
  private mutating func changed(_ value: OrderedJSON, at key: String) -> OrderedJSON {
    switch value {
    case .object(var members):
      guard !members.isEmpty, pick(6) > 0 else { return .object(members + [newMember(at: key)]) }
      let index = pick(members.count)
      let member = members[index]
      switch pick(20) {
      case 0, 1: members.remove(at: index)
      case 2: members[index].name = pick(2) == 0 ? keys[pick(keys.count)] : member.name + "x"
      case 3, 4: members[index].value = other(for: member.name)
      default: members[index].value = changed(member.value, at: member.name)
      }
      return .object(members)
    case .array(var elements):
      guard !elements.isEmpty, pick(4) > 0 else { return .array(elements + [anything()]) }
      let index = pick(elements.count)
      if pick(4) == 0 {
        elements.remove(at: index)
      } else {
        elements[index] = changed(elements[index], at: key)
      }
      return .array(elements)
    case .null, .bool, .integer, .number, .string: return other(for: key)
    }
  }

  /// A member that a mapping at this key has in some manifest. Sometimes, or if there is none, a new member.
  private mutating func newMember(at key: String) -> OrderedJSON.Member {
    if pick(8) > 0, let known = valuesByKey[key], case .object(let members) = known[pick(known.count)],
      !members.isEmpty
    {
      return members[pick(members.count)]
    }
    let name = keys[pick(keys.count)]
    return .init(name, other(for: name))
  }

  private mutating func other(for key: String) -> OrderedJSON {
    guard let known = valuesByKey[key], pick(3) > 0 else { return anything() }
    return known[pick(known.count)]
  }

  private mutating func anything() -> OrderedJSON { Self.values[pick(Self.values.count)] }
}

/// SplitMix64 (Steele, Lea and Flood, 2014).
private struct Seeded: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }
}
