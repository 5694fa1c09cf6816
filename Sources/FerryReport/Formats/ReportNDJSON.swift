import FerryPlan

/// A report as one JSON object per line, each with its `type`: the version, the run, its totals, the nodes, the
/// timeline, the comparison with a plan, and then the items.
struct ReportNDJSON: ReportRenderer {
  func render(_ source: ReportSource, to sink: any ByteSink) throws {
    let record = source.record
    func put(_ type: String, _ value: some Encodable) throws {
      try put(type, bytes: Array(try ReportJSON.line(value).utf8))
    }
    /// - Parameter bytes: an object with at least one key.
    func put(_ type: String, bytes: [UInt8]) throws {
      let line = Array("{\"type\":\"\(type)\",".utf8) + bytes.dropFirst() + [0x0A]
      try sink.write(PrintableJSON.escaping(line))
    }
    try put("report", ["version": record.version])
    try put("run", record.run)
    try put("totals", record.totals)
    for node in record.nodes { try put("node", node) }
    if let timeline = record.timeline { try put("timeline", timeline) }
    if let plan = record.plan { try put("plan", plan) }
    let encoder = ItemEncoder()
    try source.eachItem { try put("item", bytes: try encoder.encode($0)) }
  }
}
