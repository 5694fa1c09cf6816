/// Tracks the written part of a script.
struct ScriptPlayer {
  let ending: ResponseScript.Ending
  private var steps: ArraySlice<ResponseScript.Step>
  /// The number of times the first of `steps` has been written.
  private var written = 0
  /// The time at which the next bytes may be written.
  private(set) var due: ContinuousClock.Instant

  init(_ script: ResponseScript, from start: ContinuousClock.Instant) {
    ending = script.ending
    steps = script.steps[...]
    due = start
  }

  /// Whether every byte has been written.
  var isFinished: Bool { steps.isEmpty }

  /// Appends the bytes that are due, until the queue holds `limit` bytes or a little more.
  mutating func fill(_ queue: inout ByteQueue, limit: Int, at now: ContinuousClock.Instant) {
    while queue.count < limit, now >= due, let step = steps.first {
      queue.append(step.numberOffset.map { Self.numbered(step.bytes, at: $0, written) } ?? step.bytes)
      written += 1
      if step.interval > .zero { due = now + step.interval }
      if written == step.count {
        steps.removeFirst()
        written = 0
      }
    }
  }

  private static func numbered(_ bytes: [UInt8], at offset: Int, _ number: Int) -> [UInt8] {
    var bytes = bytes
    var rest = number
    for index in (offset..<offset + ResponseScript.number.utf8.count).reversed() {
      bytes[index] = UInt8(ascii: "0") + UInt8(rest % 10)
      rest /= 10
    }
    return bytes
  }
}
