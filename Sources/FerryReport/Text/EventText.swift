import FerryPlan

/// Events as lines of a log: time, level, what, and the facts.
package enum EventText {
  package static func line(_ event: RunEvent) -> [UInt8] { Array((text(event) + "\n").utf8) }

  package static func text(_ event: RunEvent) -> String {
    switch event {
    case .started(let at, let run, let manifests):
      return
        "\(at.rfc3339) info run \(run) of \(manifests.map { DisplayPath.line($0) }.joined(separator: ", ")) started"
    case .request(let request):
      let outcome = request.status.map(String.init) ?? request.code?.rawValue ?? "no response"
      let isGood = request.status.map { $0 < 400 } ?? false
      return
        "\(request.at.rfc3339) \(isGood ? "debug" : "warning") \(name(request.manifest, request.node, request.path)) "
        + "\(request.step.rawValue) \(outcome) \(ByteText.text(request.bytes)) "
        + "\(ElapsedText.precise(request.duration.seconds))"
        + (request.phases.map { " (\(text($0)))" } ?? "")
    case .ended(let item):
      let isGood = item.state == .done
      let reason = item.reason.map { ": \(ReasonText.text($0))" } ?? ""
      return
        "\(item.at.rfc3339) \(isGood ? "info" : "error") \(name(item.manifest, item.node, item.path)) "
        + "\(ReportState(item.state))\(reason)"
    case .resumed(let at, let session, let period):
      return
        "\(at.rfc3339) info session \(session) resumed; its resume delay is \(ElapsedText.text(period.seconds))"
    case .finished(let at, let exitCode, let report):
      return
        "\(at.rfc3339) info run ended with exit code \(exitCode); its report is \(DisplayPath.line(report))"
    }
  }

  /// Such as `DNS 0.001 s, connect 0.002 s, TLS 0.010 s, first byte 0.031 s; new connection`.
  private static func text(_ phases: RequestPhases) -> String {
    let parts =
      [
        ("DNS", phases.nameResolution), ("connect", phases.connect), ("TLS", phases.tls),
      ].filter { $0.1 >= .microseconds(500) } + (phases.firstByte.map { [("first byte", $0)] } ?? [])
    let times = parts.map { "\($0) \(ElapsedText.precise($1.seconds))" }.joined(separator: ", ")
    let connection =
      switch phases.connection {
      case .none: "no connection"
      case .new: "new connection"
      case .reused: "reused connection"
      }
    return times + (times.isEmpty ? "" : "; ") + connection
  }

  private static func name(_ manifest: String?, _ node: String, _ path: [UInt8]?) -> String {
    RunRecord.title(node, manifest) + (path.map { "/" + DisplayPath.shown($0) } ?? "")
  }
}
