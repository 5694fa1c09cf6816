import FerryManifest
import FerryPlan

extension ReportSchema {
  static let planObjects = [
    SchemaObject(
      "PlanComparison", "The comparison of what a plan or a simulation expected with what the run did.",
      [
        .required(
          "source", .words(PlanComparison.Source.self), "The document that the run is compared with."),
        .required("planned_at", .time, "The time for which the plan was made."),
        .optional("round", .integer, "The round of the plan."),
        .optional("policy", .words(ResumeDelay.Policy.self), "The policy that was simulated."),
      ] + amounts + [
        differences,
        .required(
          "nodes", .list(.object("PlannedNode")),
          "The nodes of the plan, and then those that it does not contain."),
        .optional(
          "timeline", .list(.object("NodeSpans")),
          "The activities of the nodes in a simulation, in seconds since its start."),
      ]),
    SchemaObject(
      "PlannedNode", "A node in the plan and in the run.",
      [
        manifest, .required("name", .string, "The name of the node."),
        .required(
          "kind", .choice(["token", "upload", "download", "fetch", "request"]), "The kind of the node."),
        .optional("planned_state", .string, "The node's state in the plan."),
        .optional("actual_state", .string, "The node's state after the run."),
      ] + amounts + [differences]),
    SchemaObject(
      "PlannedAmount", "A number. Each key is absent if the number is unknown.",
      [
        .optional("planned", .count, "In the plan."), .optional("actual", .count, "In the run."),
      ]),
    SchemaObject(
      "PlannedSeconds", "A duration in seconds. Each key is absent if the duration is unknown.",
      [
        .optional("planned", .seconds, "In the simulation."), .optional("actual", .seconds, "In the run."),
      ]),
    SchemaObject(
      "PlanDifference", "A reason why the run differs from the plan.",
      [
        .required("code", .words(PlanComparison.Code.self), "A stable code."),
        .required("message", .string, "An explanation for people."),
      ]),
  ]

  private static let differences = SchemaKey.required(
    "differences", .list(.object("PlanDifference")), "The reasons why the run differs from the plan.")

  private static let amounts: [SchemaKey] = [
    .required("files", .object("PlannedAmount"), "Files to transfer, and files that the run completed."),
    .required("bytes", .object("PlannedAmount"), "The bytes of these files."),
    .required("requests", .object("PlannedAmount"), "Requests if nothing fails, and requests that ended."),
    .required("seconds", .object("PlannedSeconds"), "From the first request to the last one."),
  ]

  static let workObject = SchemaObject(
    "Work", "What the run did for a node.",
    [
      .required("requests", .count, "Requests that ended."),
      .required("useful_bytes", .count, "File content, in steps that succeeded."),
      .required("items_done", .count, "The items that the run completed."),
      .required("started_at", .time, "The start of the first request."),
      .required("ended_at", .time, "The end of the last request."),
      .required("duration_seconds", .seconds, "The time between `started_at` and `ended_at`."),
    ])
}
