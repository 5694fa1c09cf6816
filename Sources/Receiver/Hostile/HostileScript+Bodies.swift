/// Encodings, framing and bodies.
extension HostileScript {
  func contentEncoded(_ body: [UInt8]) -> ResponseScript {
    var script = ResponseScript(head(tag, "Content-Encoding: gzip", "Content-Length: \(body.count)"))
    script.add(body)
    return script
  }

  /// A body in one chunk.
  func transferEncoded(_ coding: String, _ body: [UInt8], _ fields: String...) -> ResponseScript {
    var script = ResponseScript(head([tag, "Transfer-Encoding: \(coding)"] + fields))
    script.add(chunk(body) + chunk([]))
    return script
  }

  var gzipBomb: ResponseScript {
    let zeros = GzipBytes.zeros(size)
    let length = zeros.start.count + zeros.units * zeros.unit.count + zeros.end.count
    var script = ResponseScript(head(tag, "Content-Encoding: gzip", "Content-Length: \(length)"))
    script.add(zeros.start)
    script.add(zeros.unit, count: zeros.units)
    script.add(zeros.end)
    return script
  }

  var transferEncodedGzipBomb: ResponseScript {
    let zeros = GzipBytes.zeros(size)
    var script = ResponseScript(head(tag, "Transfer-Encoding: gzip, chunked"))
    script.add(chunk(zeros.start))
    // A chunk contains many units, so that the overhead of the chunks does not exceed the content.
    let together = 256
    let long = Array(repeatElement(zeros.unit, count: together).joined())
    script.add(chunk(long), count: zeros.units / together)
    script.add(chunk(zeros.unit), count: zeros.units % together)
    script.add(chunk(zeros.end) + chunk([]))
    return script
  }

  var hugeContentLength: ResponseScript {
    var script = ResponseScript(head(tag, "Content-Length: \(size)"), ending: .hold)
    script.add("a", size: min(size, 1000))
    return script
  }

  /// Two responses on a connection that stays open. The client must recognize that the second one is
  /// unsolicited.
  var secondResponse: ResponseScript { ResponseScript(persistent + persistent, ending: .hold) }

  /// The second response arrives when the client has no request pending.
  var lateResponse: ResponseScript {
    var script = ResponseScript(ending: .hold)
    script.add(persistent, interval: interval)
    script.add(persistent)
    return script
  }

  /// A complete response after which the connection stays open.
  private var persistent: String {
    let body = Self.document
    return "\(statusLine)\(tag)\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
  }

  var garbage: ResponseScript {
    var script = ResponseScript()
    script.add("\u{16}\u{3}\u{1}\u{2}\0\u{1}\n\u{7f}", size: size)
    return script
  }

  /// A part of a body. The length of the part is known before it is written.
  enum Part {
    case text(String)
    /// This many bytes of a repeated pattern.
    case filler(String, Int)
    case numbered(String, Int)

    var size: Int {
      switch self {
      case .text(let text): text.utf8.count
      case .filler(_, let size): size
      case .numbered(let text, let count): text.utf8.count * count
      }
    }
  }

  func body(_ type: String, _ parts: [Part]) -> ResponseScript {
    var script = ResponseScript()
    let length = parts.reduce(0) { $0 + $1.size }
    script.add(head("Content-Type: \(type)", "Content-Length: \(length)"))
    for part in parts {
      switch part {
      case .text(let text): script.add(text)
      case .filler(let pattern, let size): script.add(pattern, size: size)
      case .numbered(let text, let count): script.add(numbered: text, count: count)
      }
    }
    return script
  }

  /// Fills the body up to its size with repetitions of a pattern.
  ///
  /// - Parameter unit: a number of bytes; the filler's length is a multiple of it.
  func filled(_ start: String, _ pattern: String, unit: Int, _ end: String) -> [Part] {
    let room = max(0, size - start.utf8.count - end.utf8.count)
    return [.text(start), .filler(pattern, room / unit * unit), .text(end)]
  }

  /// Two long values of the same length.
  func twice(_ start: String, _ pattern: String, _ middle: String, _ end: String) -> [Part] {
    let half = max(1, (size - (start + middle + end).utf8.count) / 2)
    return [.text(start), .filler(pattern, half), .text(middle), .filler(pattern, half), .text(end)]
  }

  var numberedKeys: [Part] {
    let key = "\"\(ResponseScript.number)\":0,"
    let end = #""id":0}"#
    return [.text("{"), .numbered(key, max(0, size - 1 - end.utf8.count) / key.utf8.count), .text(end)]
  }
}
