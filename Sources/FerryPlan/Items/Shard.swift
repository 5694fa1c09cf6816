/// One part of the items of a manifest, which a separate process sends.
///
/// The hash of an item's identity (the name of its upload and the bytes of its path) determines the item's
/// shard. All processes therefore compute the same shard, and adding or removing a file does not move other
/// files to another shard.
package struct Shard: Hashable, Codable, Sendable {
  /// From 1 to `count`.
  package var number: Int
  package var count: Int

  /// The maximum number of shards of a manifest.
  package static let most = 100_000

  /// Returns `nil` unless 1 ≤ `number` ≤ `count` ≤ `most`.
  package init?(_ number: Int, of count: Int) {
    guard (1...Self.most).contains(count), (1...count).contains(number) else { return nil }
    self.number = number
    self.count = count
  }
}

/// Assigns the items of an upload to shards.
///
/// The hash is FNV-1a with 64 bits (RFC 9923) of the upload's name, a zero byte and the path. The finalizer
/// of MurmurHash3 is applied to it, because the upper bits of FNV-1a hardly depend on the last bytes of a
/// path. The hash must never change: otherwise, other shards would send the files again.
package struct ItemHash: Hashable, Sendable {
  private let start: UInt64

  package init(upload: String) {
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for byte in upload.utf8 { Self.add(byte, to: &hash) }
    Self.add(0, to: &hash)
    start = hash
  }

  /// The hash of an item's identity.
  package func value(of path: some Sequence<UInt8>) -> UInt64 {
    var hash = start
    for byte in path { Self.add(byte, to: &hash) }
    hash = (hash ^ (hash >> 33)) &* 0xff51_afd7_ed55_8ccd
    hash = (hash ^ (hash >> 33)) &* 0xc4ce_b9fe_1a85_ec53
    return hash ^ (hash >> 33)
  }

  /// The number of the item's shard, from 1 to `count`.
  package func number(of path: some Sequence<UInt8>, among count: Int) -> Int {
    // The upper half of the product divides the range of hashes into `count` intervals of the same length.
    Int(value(of: path).multipliedFullWidth(by: UInt64(count)).high) + 1
  }

  private static func add(_ byte: UInt8, to hash: inout UInt64) {
    hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3
  }
}

/// The part of a manifest's work that a launch executes.
package enum ShardPart: Hashable, Sendable {
  /// The requests and fetches that run once, before the shards.
  case setup(count: Int)
  /// The items of one shard.
  case items(Shard)
  /// The requests and fetches that run once, after the shards.
  case finish(count: Int)

  /// The number of shards.
  package var count: Int {
    switch self {
    case .setup(let count), .finish(let count): count
    case .items(let shard): shard.count
    }
  }

  /// The shard; `nil` for the work that runs once.
  package var shard: Shard? {
    switch self {
    case .items(let shard): shard
    case .setup, .finish: nil
    }
  }
}

extension ShardPart: CustomStringConvertible {
  /// The value of `--shard`.
  package var description: String {
    switch self {
    case .setup(let count): "setup/\(count)"
    case .items(let shard): "\(shard.number)/\(shard.count)"
    case .finish(let count): "finish/\(count)"
    }
  }
}
