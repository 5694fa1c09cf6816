import FerryPlan

/// Events as lines of a log, each with the time, the level, the event and its details.
package enum EventText {
  package static func text(_ event: RunEvent) -> String {
    var line: [UInt8] = []
    add(event, TimeText(event.at), to: &line)
    return String(decoding: line, as: UTF8.self)
  }

  /// Appends the event and a line feed.
  ///
  /// - Parameter time: the time of the event.
  package static func append(_ event: RunEvent, at time: TimeText, to buffer: inout [UInt8]) {
    add(event, time, to: &buffer)
    buffer.append(0x0A)
  }

  private static func add(_ event: RunEvent, _ time: TimeText, to line: inout [UInt8]) {
    line.append(contentsOf: time.bytes)
    switch event {
    case .started(_, let run, let manifests):
      let names = manifests.map { DisplayPath.line($0) }.joined(separator: ", ")
      line += " info run \(run) of \(names) started".utf8
    case .request(let request): add(request, to: &line)
    case .ended(let item):
      line += (item.state == .done ? " info " : " error ").utf8
      add(item.manifest, item.node, item.path, to: &line)
      line.append(UInt8(ascii: " "))
      line += ReportState(item.state).description.utf8
      if let reason = item.reason { line += ": \(ReasonText.text(reason))".utf8 }
    case .resumed(_, let session, let period):
      line += " info session \(session) resumed; its resume delay is \(ElapsedText.text(period.seconds))".utf8
    case .finished(_, let exitCode, let report):
      line += " info run ended with exit code \(exitCode); its report is \(DisplayPath.line(report))".utf8
    }
  }

  private static func add(_ request: RunEvent.Request, to line: inout [UInt8]) {
    line += (request.status.map { $0 < 400 } ?? false ? " debug " : " warning ").utf8
    add(request.manifest, request.node, request.path, to: &line)
    line.append(UInt8(ascii: " "))
    line += request.step.rawValue.utf8
    line.append(UInt8(ascii: " "))
    if let status = request.status {
      line.append(decimal: Int64(status))
    } else {
      line += (request.code?.rawValue ?? "no response").utf8
    }
    line.append(UInt8(ascii: " "))
    ByteText.append(request.bytes, to: &line)
    line.append(UInt8(ascii: " "))
    add(request.duration, to: &line)
    if let phases = request.phases {
      line += " (".utf8
      add(phases, to: &line)
      line.append(UInt8(ascii: ")"))
    }
    switch request.segments {
    case nil: break
    case .several(let count): line += ", \(Count.text(count, "connection"))".utf8
    case .single(let reason): line += ", one connection: \(DisplayPath.line(reason))".utf8
    }
  }

  /// Adds text such as `DNS 0.001 s, connect 0.002 s, TLS 0.010 s, first byte 0.031 s; new connection`.
  private static func add(_ phases: RequestPhases, to line: inout [UInt8]) {
    var separator = ""
    func add(_ name: String, _ duration: Duration) {
      line += separator.utf8
      line += name.utf8
      Self.add(duration, to: &line)
      separator = ", "
    }
    let least = Duration.microseconds(500)
    if phases.nameResolution >= least { add("DNS ", phases.nameResolution) }
    if phases.connect >= least { add("connect ", phases.connect) }
    if phases.tls >= least { add("TLS ", phases.tls) }
    if let firstByte = phases.firstByte { add("first byte ", firstByte) }
    if !separator.isEmpty { line += "; ".utf8 }
    switch phases.connection {
    case .none: line += "no connection".utf8
    case .new: line += "new connection".utf8
    case .reused: line += "reused connection".utf8
    }
  }

  /// Adds text such as `0.031 s`.
  private static func add(_ duration: Duration, to line: inout [UInt8]) {
    line.append(seconds: duration, decimals: 3, minimum: 1)
    line += " s".utf8
  }

  private static func add(_ manifest: String?, _ node: String, _ path: [UInt8]?, to line: inout [UInt8]) {
    if let manifest {
      line += manifest.utf8
      line.append(UInt8(ascii: "/"))
    }
    line += node.utf8
    guard let path else { return }
    line.append(UInt8(ascii: "/"))
    DisplayPath.append(path, to: &line)
  }
}
