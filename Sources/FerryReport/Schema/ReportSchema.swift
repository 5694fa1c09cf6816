import FerryManifest
import FerryPlan

/// The JSON Schema (2020-12) of `report.json`: `docs/report.schema.json`.
package enum ReportSchema {
  package static func json() -> String { value.pretty }

  /// The objects of a report, the report itself first.
  static var objects: [SchemaObject] {
    [report] + runObjects + nodeObjects + [workObject] + itemObjects + timelineObjects + planObjects
  }

  package static var value: OrderedJSON {
    .object(
      [
        .init("$schema", .string("https://json-schema.org/draft/2020-12/schema")),
        .init("title", .string("ferry report")),
      ] + report.members + [
        .init("$defs", .object(objects.dropFirst().map { .init($0.title, .object($0.members)) }))
      ])
  }

  private static let report = SchemaObject(
    "Report", "The report of a ferry run. Keys without a value are absent; sizes are in bytes.",
    [
      .required("version", .constant(1), "The version of this format."),
      .required("run", .object("Run"), "The run."),
      .required("totals", .object("Totals"), "The totals of the run."),
      .required(
        "nodes", .list(.object("Node")),
        "All tokens, uploads, download batches, fetches and requests, in start order."),
      .optional("timeline", .object("Timeline"), "The progress of the run over time."),
      .optional("plan", .object("PlanComparison"), "The comparison of the plan with the run."),
      .required("items", .list(.object("Item")), "The items that the report lists; see `run.listed_items`."),
    ])

  private static let itemObjects = [
    SchemaObject(
      "Item", "A file of an upload or of a download batch.",
      [
        manifest, .required("node", .string, "The name of the upload or download batch."),
        .required(
          "path", .string,
          "The path, relative to the upload's root; for a download, to the manifest's folder."),
        .optional("path_base64", .string, "The bytes of the path in Base64, if it is not UTF-8."),
        .required("size", .count, "The size of the file."),
        .required(
          "state", .choice(["done", "failed", "ambiguous", "cancelled", "waiting"]), "The state of the item."),
        .optional(
          "reason", .object("Reason"), "The reason why the item did not succeed, or why it is waiting."),
        .required(
          "attempts", .list(.object("Attempt")),
          "The failed attempts; of more than 100, the first 50 and the last 50."),
        .optional(
          "ambiguity", .object("Ambiguity"),
          "For an item that ended as ambiguous: the information for a decision."),
        .optional("started_at", .time, "The time at which the run began the item."),
        .optional("ended_at", .time, "The time at which the item ended in the run."),
        .optional("duration_seconds", .seconds, "The time between `started_at` and `ended_at`."),
        .optional(
          "requests", .count, "The number of requests for the item that ended, successfully or not."),
        .optional(
          "sha256", .string,
          "The SHA-256 digest of the file in hexadecimal, if the run computed it and lists every item."),
      ]),
    SchemaObject(
      "Attempt", "A failed attempt at a request.",
      [
        .required(
          "step", .choice(steps), "The step of the request."),
        .required("code", .string, "A stable code."),
        .optional("status", .integer, "The HTTP status, if there was a response."),
        .required("message", .string, "An explanation for people; its wording may change."),
        .required("ended_at", .time, "The end of the attempt."),
        .required("duration_seconds", .seconds, "The duration of the attempt."),
      ] + details),
    SchemaObject(
      "Reason", "The reason why an item, node or request did not succeed, or why it is waiting.",
      [
        .required("code", .string, "A stable code."),
        .optional("status", .integer, "The HTTP status, if there was a response."),
        .required("message", .string, "An explanation for people; it never contains a secret."),
        .optional("until", .time, "The end of the wait, if it is known."),
        .optional(
          "budget", .object("BudgetFigures"), "For work that waits for a budget: the use of the budget."),
      ] + details),
    SchemaObject(
      "BudgetFigures", "The use of a budget.",
      [
        .required("network", .words(Budget.Scope.self), "The kind of network."),
        .required("used_bytes", .integer, "The bytes used in the window."),
        .required("limit_bytes", .integer, "The limit."),
      ]),
    SchemaObject(
      "Ambiguity",
      "A request that may have been executed, or a commit that failed after a transfer that must not be repeated.",
      [
        .required("step", .choice(steps), "The step of the request."),
        .optional(
          "failed", .boolean,
          "Whether the request, a commit, failed after a transfer that must not be repeated."),
        .optional("at", .time, "The time at which ferry stopped waiting for the response."),
        .optional("origin", .string, "The scheme, host and port to which the request was sent."),
        .optional(
          "redirected_to", .string,
          "The scheme, host and port of the last server, if the request was redirected."),
        .optional("captures", .strings, "The values that were captured for the item and are not secret."),
        .required(
          "resolve", .list(.string),
          "The command lines that record a decision: the request was executed; it was not; its commit was executed too. Empty if the session is ephemeral."
        ),
      ]),
  ]

  static let steps = [
    Step.Kind.token, .allocate, .transfer, .commit, .probe, .fetch, .request, .abandon, .download,
  ].map(\.rawValue)

  static let manifest = SchemaKey.optional(
    "manifest", .string, "The name of the manifest, if the run has several.")

  static let details: [SchemaKey] = [
    .optional("method", .string, "The method of the failed request."),
    .optional("url", .string, "The URL of the failed request, without secrets."),
    .optional("proxy", .string, "The host and port of the proxy of the failed request."),
    .optional("reason_phrase", .string, "The reason phrase of the response."),
    .optional("body", .string, "The beginning of the response's body."),
  ]

  private static let timelineObjects = [
    SchemaObject(
      "Timeline", "The progress of the run over time. All lists of samples have the same length.",
      [
        .required("interval_seconds", .seconds, "The time from one sample to the next."),
        .required("duration_seconds", .seconds, "The time from the run's start to the last sample."),
        .required("bytes", .list(.count), "The bytes transferred so far."),
        .required("requests", .list(.count), "The number of requests that have ended so far."),
        .required("items_done", .list(.count), "The number of items that the run has completed so far."),
        .required("in_flight", .list(.count), "The number of requests in progress."),
        .required("nodes", .list(.object("NodeSpans")), "The activities of the nodes."),
        .required(
          "resumes", .list(.object("Resume")), "The resumes of sessions that have a delay, at most 1,000."),
      ]),
    SchemaObject(
      "NodeSpans", "The activities of one node.",
      [
        manifest, .required("name", .string, "The name of the node."),
        .required("spans", .list(.object("Span")), "The activities of the node, in order of time."),
      ]),
    SchemaObject(
      "Span", "A period in which the activity of a node did not change.",
      [
        .required(
          "activity", .words(NodeActivity.self),
          "The activity of the node, or the reason for which it waited."),
        .required("from", .seconds, "The start, in seconds since the run's start."),
        .required("to", .seconds, "The end, in seconds since the run's start."),
      ]),
    SchemaObject(
      "Resume", "A resume of a session in the background.",
      [
        .required("session", .string, "The name of the session."),
        .required("at", .seconds, "The time of the resume, in seconds since the run's start."),
        .required("period_seconds", .seconds, "The delay that follows."),
      ]),
  ]
}
