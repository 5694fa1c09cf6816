import FerryPlan

/// Events as lines of a log, each with the time, the level, the event and its details.
package enum EventText {
  package static func text(_ event: borrowing RunEvent) -> String {
    var line = ByteBuffer()
    append(event, TimeText(event.at), to: &line)
    return line.withBytes { String(decoding: $0, as: UTF8.self) }
  }

  /// Appends an event, without a line break.
  ///
  /// - Parameter time: the time of the event.
  static func append(_ event: borrowing RunEvent, _ time: TimeText, to line: inout ByteBuffer) {
    line.append(time.bytes)
    switch event {
    case .started(_, let run, let manifests):
      let names = manifests.map { DisplayPath.line($0) }.joined(separator: ", ")
      line.append(" info run \(run) of \(names) started")
    case .request(let request): append(request, to: &line)
    case .ended(let item):
      line.append(literal: item.state == .done ? " info " : " error ")
      append(item.manifest, item.node, item.path, to: &line)
      line.append(UInt8(ascii: " "))
      line.append(ReportState(item.state).description)
      if let reason = item.reason { line.append(": \(ReasonText.text(reason))") }
    case .resumed(_, let session, let period):
      line.append(" info session \(session) resumed; its resume delay is \(ElapsedText.text(period.seconds))")
    case .dropped(_, let count):
      line.append(
        " warning \(Count.text(count, "event")) dropped because the file could not be written fast enough")
    case .finished(_, let exitCode, let report):
      line.append(" info run ended with exit code \(exitCode); its report is \(DisplayPath.line(report))")
    }
  }

  private static func append(_ request: borrowing RunEvent.Request, to line: inout ByteBuffer) {
    line.append(literal: request.status.map { $0 < 400 } ?? false ? " debug " : " warning ")
    append(request.manifest, request.node, request.path, to: &line)
    line.append(UInt8(ascii: " "))
    line.append(request.step.rawValue)
    line.append(UInt8(ascii: " "))
    if let status = request.status {
      line.append(decimal: Int64(status))
    } else {
      line.append(request.code?.rawValue ?? "no response")
    }
    line.append(UInt8(ascii: " "))
    ByteText.append(request.bytes, to: &line)
    line.append(UInt8(ascii: " "))
    append(request.duration, to: &line)
    if let phases = request.phases {
      line.append(literal: " (")
      append(phases, to: &line)
      line.append(UInt8(ascii: ")"))
    }
    switch request.segments {
    case nil: break
    case .several(let count): line.append(", \(Count.text(count, "connection"))")
    case .single(let reason): line.append(", one connection: \(DisplayPath.line(reason))")
    }
  }

  /// Appends text such as `DNS 0.001 s, connect 0.002 s, TLS 0.010 s, first byte 0.031 s; new connection`.
  private static func append(_ phases: RequestPhases, to line: inout ByteBuffer) {
    let start = line.count
    append("DNS ", phases.nameResolution, from: start, to: &line)
    append("connect ", phases.connect, from: start, to: &line)
    append("TLS ", phases.tls, from: start, to: &line)
    if let firstByte = phases.firstByte {
      if line.count > start { line.append(literal: ", ") }
      line.append(literal: "first byte ")
      append(firstByte, to: &line)
    }
    if line.count > start { line.append(literal: "; ") }
    switch phases.connection {
    case .none: line.append(literal: "no connection")
    case .new: line.append(literal: "new connection")
    case .reused: line.append(literal: "reused connection")
    }
  }

  /// Appends a phase, unless it took less than half a millisecond.
  ///
  /// - Parameter start: the number of bytes before the first phase.
  private static func append(
    _ name: StaticString, _ duration: Duration, from start: Int, to line: inout ByteBuffer
  ) {
    guard duration >= .microseconds(500) else { return }
    if line.count > start { line.append(literal: ", ") }
    line.append(literal: name)
    append(duration, to: &line)
  }

  /// Appends text such as `0.031 s`.
  private static func append(_ duration: Duration, to line: inout ByteBuffer) {
    line.append(seconds: duration, decimals: 3, minimum: 1)
    line.append(literal: " s")
  }

  private static func append(
    _ manifest: String?, _ node: String, _ path: ArraySlice<UInt8>?, to line: inout ByteBuffer
  ) {
    if let manifest {
      line.append(manifest)
      line.append(UInt8(ascii: "/"))
    }
    line.append(node)
    guard let path else { return }
    line.append(UInt8(ascii: "/"))
    DisplayPath.append(path, to: &line)
  }
}
