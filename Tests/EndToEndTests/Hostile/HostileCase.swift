/// A hostile response of the receiver, and the outcome of the step that receives it.
///
/// The table is complete: a test compares it with the output of `ferry-receiver --list-faults`.
struct HostileCase: Sendable {
  /// The outcome of a fetch. Unless the response is stored, the file and its validators are unchanged.
  enum Fetch: Sendable {
    /// The response is a complete 200, and its body is stored.
    case stores
    /// The fetch fails permanently, with one of these codes.
    case fails([String])
    /// The fetch remains open with one of these codes, and the next run tries it again.
    case waits([String])
    /// The fetch times out with one of these codes. Which one depends on the load of the machine.
    case timesOut([String])
  }

  /// The outcome of an unrepeatable commit that the server executed before it sent this response.
  enum Commit: Sendable {
    /// The response is a success.
    case succeeds
    /// The outcome is unknown, so the commit is never sent again.
    case isUnknown
    /// The response states that the commit was not executed, and ferry relies on this statement.
    case isRefused
  }

  let name: String
  /// Further settings of the fault.
  let settings: String
  let fetch: Fetch
  let commit: Commit

  private init(_ name: String, _ fetch: Fetch, _ commit: Commit, settings: String = "") {
    self.name = name
    self.settings = settings
    self.fetch = fetch
    self.commit = commit
  }

  /// The case's name in a manifest and in URLs. No name contains another name.
  var node: String { "case-\(name.replacing(".", with: "-"))-end" }

  /// Whether the response ends only at a time limit. Such a case belongs in a session with a short limit.
  var isSlow: Bool {
    switch fetch {
    case .timesOut: true
    case .stores, .fails, .waits: false
    }
  }

  /// The fault in the syntax of the receiver's command line.
  ///
  /// - Parameters:
  ///   - route: the route, such as `commit`.
  ///   - match: the part of the URL that selects the affected requests.
  func fault(_ route: String, match: String, _ more: String = "") -> String {
    let all = [settings, more].filter { !$0.isEmpty }.map { ",\($0)" }.joined()
    return "\(route):match=\(match),response=\(name)\(all)"
  }

  /// A fault that is missing from the table because its open, silent connection would affect other cases.
  static let withOwnTest: Set = ["late-response"]

  /// No case leads to a port that refuses connections, because ferry would then delay the other cases of the same host.
  static let all: [HostileCase] = [
    HostileCase("redirect", .fails(["http_status", "redirect"]), .isUnknown, settings: "status=303"),
    HostileCase("redirect-loop", .fails(["redirect"]), .isUnknown, settings: "status=303"),
    HostileCase("redirect-to-file-scheme", .fails(["redirect"]), .isUnknown),
    HostileCase(
      "redirect-to-userinfo", .fails(["http_status", "redirect"]), .isUnknown, settings: "status=303"),
    HostileCase(
      "duplicate-location", .fails(["http_status", "redirect"]), .isUnknown, settings: "status=303"),
    HostileCase("foreign-url", .fails(["http_status"]), .succeeds, settings: "location=http://127.0.0.1:1/x"),
    HostileCase("location-of-request", .fails(["http_status"]), .succeeds),

    HostileCase("partial-content", .fails(["http_status"]), .succeeds),
    HostileCase("not-modified", .fails(["http_status"]), .isUnknown),
    HostileCase("no-content", .fails(["http_status"]), .succeeds),
    HostileCase("reset-content", .fails(["http_status"]), .succeeds),
    HostileCase("other-status", .waits(["http_status"]), .isUnknown, settings: "status=600"),

    HostileCase("etag-control-character", .stores, .succeeds),
    HostileCase("etag-not-ascii", .stores, .succeeds),
    HostileCase("etag-folded", .stores, .succeeds),
    HostileCase("etag-long", .stores, .succeeds),
    HostileCase("last-modified-control-character", .stores, .succeeds),

    HostileCase("cut-in-status-line", .waits(["connection_lost"]), .isUnknown),
    HostileCase("cut-after-status-line", .waits(["connection_lost"]), .isUnknown),
    HostileCase("cut-in-header-line", .waits(["connection_lost"]), .isUnknown),
    HostileCase("cut-in-header", .waits(["connection_lost"]), .isUnknown),
    HostileCase("cut-after-early-hints", .waits(["connection_lost"]), .isUnknown),
    HostileCase("cut-in-header-after-early-hints", .waits(["connection_lost"]), .isUnknown),
    HostileCase("cut-in-body", .waits(["connection_lost"]), .isUnknown),
    HostileCase("cut-in-chunk", .waits(["connection_lost"]), .isUnknown),
    HostileCase("cut-before-last-chunk", .waits(["connection_lost"]), .isUnknown),

    HostileCase("silence", .waits(["request_timeout"]), .isUnknown),
    HostileCase(
      "drip", .timesOut(["resource_timeout", "request_timeout"]), .isUnknown,
      settings: "interval=0.05,size=1000000"),
    HostileCase(
      "drip-header", .timesOut(["resource_timeout", "request_timeout"]), .isUnknown,
      settings: "interval=0.05"
    ),

    HostileCase("endless-header", .fails(["answer_too_large"]), .isUnknown),
    HostileCase("many-headers", .fails(["answer_too_large"]), .isUnknown),
    HostileCase("long-header-line", .fails(["answer_too_large"]), .isUnknown),
    HostileCase("long-reason-phrase", .fails(["answer_too_large"]), .isUnknown),
    HostileCase("early-hints", .stores, .succeeds),
    HostileCase("early-hints-flood", .fails(["answer_too_large"]), .isUnknown),
    HostileCase("upload-resumption-flood", .fails(["answer_too_large"]), .isUnknown),
    HostileCase(
      "endless-body", .timesOut(["resource_timeout", "request_timeout"]), .isUnknown,
      settings: "interval=0.01"),
    HostileCase(
      "tiny-chunks", .timesOut(["resource_timeout", "request_timeout"]), .isUnknown, settings: "interval=0.01"
    ),
    HostileCase(
      "endless-chunk-extension", .timesOut(["request_timeout", "resource_timeout", "answer_too_large"]),
      .isUnknown),
    HostileCase("endless-trailer", .fails(["answer_too_large"]), .isUnknown),

    HostileCase("content-encoding-gzip", .fails(["unexpected_answer"]), .succeeds),
    HostileCase("content-encoding-not-gzip", .fails(["unexpected_answer"]), .succeeds),
    HostileCase("transfer-encoding-gzip", .waits(["malformed_answer"]), .isUnknown),
    HostileCase("transfer-encoding-not-gzip", .waits(["malformed_answer"]), .isUnknown),
    HostileCase("transfer-encoding-unknown", .waits(["malformed_answer"]), .isUnknown),
    HostileCase("gzip-bomb", .fails(["unexpected_answer"]), .succeeds, settings: "size=10000000"),
    HostileCase(
      "transfer-encoding-gzip-bomb", .waits(["malformed_answer"]), .isUnknown, settings: "size=100000000"),

    HostileCase("wrong-content-length", .stores, .succeeds),
    HostileCase("conflicting-content-lengths", .waits(["malformed_answer"]), .isUnknown),
    HostileCase("content-length-and-chunked", .waits(["malformed_answer"]), .isUnknown),
    HostileCase("malformed-content-length", .waits(["malformed_answer"]), .isUnknown),
    HostileCase("huge-content-length", .fails(["answer_too_large", "destination"]), .isUnknown),
    HostileCase("close-delimited", .stores, .succeeds),
    HostileCase("second-response", .stores, .succeeds),
    HostileCase("http-0.9", .waits(["malformed_answer"]), .isUnknown),
    HostileCase("garbage", .waits(["malformed_answer"]), .isUnknown),

    HostileCase("digits", .stores, .succeeds),
    HostileCase("nested-json", .stores, .succeeds),
    HostileCase("nested-xml", .stores, .succeeds),
    HostileCase("many-values-json", .stores, .succeeds),
    HostileCase("many-keys-json", .stores, .succeeds),
    HostileCase("huge-number-json", .stores, .succeeds),
    HostileCase("huge-capture", .stores, .succeeds),
  ]
}
