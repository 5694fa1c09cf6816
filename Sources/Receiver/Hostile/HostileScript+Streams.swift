/// Truncated, slow or endless responses.
extension HostileScript {
  static let earlyHint = "HTTP/1.1 103 Early Hints\r\nLink: </hostile.css>; rel=preload\r\n\r\n"
  static let uploadResumption =
    "HTTP/1.1 104 Upload Resumption Supported\r\nUpload-Draft-Interop-Version: 6\r\nLocation: /hostile\r\n\r\n"
  static let headerLine = "X-Hostile: \(String(repeating: "a", count: 64))\r\n"

  /// The start of a header section with content that a client would keep.
  var linesWithoutEnd: String { "\(statusLine)\(tag)\r\nContent-Type: application/json\r\n" }

  func cutOff(_ text: String) -> ResponseScript {
    switch cut {
    case .reset: ResponseScript(text, ending: .reset)
    case .close: ResponseScript(text, ending: .close)
    }
  }

  /// Returns a response that never ends.
  ///
  /// - Parameter text: repeated indefinitely.
  func endless(after start: String, _ text: String) -> ResponseScript {
    var script = ResponseScript(start, ending: .hold)
    // If slowness is not required, pieces larger than a single character are written.
    let repetitions = interval > .zero ? 1 : max(1, 4096 / text.utf8.count)
    script.add(String(repeating: text, count: repetitions), count: nil, interval: interval)
    return script
  }

  var drip: ResponseScript {
    var script = ResponseScript(head(tag, "Content-Length: \(size)"), ending: .hold)
    script.add("a", count: size, interval: interval)
    return script
  }

  var manyHeaders: ResponseScript {
    var script = ResponseScript(statusLine)
    let line = "X-\(ResponseScript.number): \(String(repeating: "a", count: 50))\r\n"
    script.add(numbered: line, count: max(1, size / line.utf8.count))
    script.add(rest)
    return script
  }

  /// A complete response whose status line or first header line is long.
  func filled(_ start: String) -> ResponseScript {
    var script = ResponseScript(start)
    script.add("a", size: size)
    script.add("\r\n\(rest)")
    return script
  }

  var earlyHints: ResponseScript {
    var script = ResponseScript()
    script.add(Self.earlyHint, count: 10)
    script.add("\(statusLine)\(tag)\r\n\(rest)")
    return script
  }
}
