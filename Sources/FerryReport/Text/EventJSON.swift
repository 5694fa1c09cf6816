import FerryPlan

/// Events as NDJSON: `ferry run --events` and `--log-format json`. The keys are a stable public interface.
package enum EventJSON {
  /// The version of this format, which is in the first event.
  package static let version: Int64 = 1

  /// Appends an event, without a line break.
  ///
  /// - Parameter time: the time of the event.
  static func append(_ event: borrowing RunEvent, _ time: TimeText, to line: inout ByteBuffer) {
    switch event {
    case .started(_, let run, let manifests):
      line.beginObject(type: "started")
      line.add("at", time)
      line.add("version", version)
      line.add("run", run)
      line.add("manifests", strings: manifests)
    case .request(let request): append(request, time, &line)
    case .ended(let item):
      line.beginObject(type: item.path == nil ? "node" : "item")
      line.add("at", time)
      name(item.manifest, item.node, item.path, &line)
      line.add("size", item.size)
      line.add("state", ReportState(item.state).rawValue)
      line.add("code", item.reason?.code.rawValue)
      line.add("status", item.reason?.status.map(Int64.init))
      line.add("message", item.reason?.message)
    case .resumed(_, let session, let period):
      line.beginObject(type: "resumed")
      line.add("at", time)
      line.add("session", session)
      line.add("period_seconds", seconds: period, decimals: 9)
    case .dropped(_, let count):
      line.beginObject(type: "dropped")
      line.add("at", time)
      line.add("events", Int64(count))
    case .finished(_, let exitCode, let report):
      line.beginObject(type: "finished")
      line.add("at", time)
      line.add("exit_code", Int64(exitCode))
      line.add("report", report)
    }
    line.endObject()
  }

  private static func append(
    _ request: borrowing RunEvent.Request, _ time: TimeText, _ line: inout ByteBuffer
  ) {
    line.beginObject(type: "request")
    line.add("at", time)
    name(request.manifest, request.node, request.path, &line)
    line.add("step", request.step.rawValue)
    line.add("status", request.status.map(Int64.init))
    line.add("code", request.code?.rawValue)
    line.add("bytes", request.bytes)
    line.add("duration_seconds", seconds: request.duration, decimals: 3)
    if let phases = request.phases { add(phases, &line) }
    switch request.segments {
    case nil: break
    case .several(let count): line.add("connections", Int64(count))
    case .single(let reason):
      line.add("connections", Int64(1))
      line.add("single_connection", reason)
    }
  }

  @inline(__always)
  private static func add(_ phases: RequestPhases, _ line: inout ByteBuffer) {
    if phases.nameResolution > .zero { line.add("dns_seconds", seconds: phases.nameResolution, decimals: 6) }
    if phases.connect > .zero { line.add("connect_seconds", seconds: phases.connect, decimals: 6) }
    if phases.tls > .zero { line.add("tls_seconds", seconds: phases.tls, decimals: 6) }
    if let firstByte = phases.firstByte { line.add("first_byte_seconds", seconds: firstByte, decimals: 6) }
    switch phases.connection {
    case .none: break
    case .new: line.add("reused_connection", isSet: false)
    case .reused: line.add("reused_connection", isSet: true)
    }
  }

  @inline(__always)
  private static func name(
    _ manifest: String?, _ node: String, _ path: ArraySlice<UInt8>?, _ line: inout ByteBuffer
  ) {
    line.add("manifest", manifest)
    line.add("node", node)
    if let path { line.add(path: path) }
  }
}
