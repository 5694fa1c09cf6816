import FerryManifest
import FerryPlan

extension ReportSchema {
  static let runObjects = [
    SchemaObject(
      "Run", "The run.",
      [
        .required("id", .string, "The run identifier; identifiers sort by time."),
        .optional("manifest", .string, "The manifest's name; absent if there are several."),
        .optional("path", .string, "The manifest's path as given."),
        .optional("sha256", .string, "The hash of the manifest's text."),
        .optional("round", .integer, "The number of the round."),
        .optional("round_closed", .boolean, "Whether the round is complete."),
        .optional("manifests", .list(.object("Manifest")), "All manifests of the run."),
        .required("launch", .words(LaunchKind.self), "The kind of launch."),
        .required("started_at", .time, "The start of the run."),
        .required("ended_at", .time, "The end of the run."),
        .required("exit_code", .integer, "The exit code of the process."),
        .required(
          "state", .choice(["ended", "interrupted"]),
          "`ended`, or `interrupted` if the process was killed or crashed before its work had ended."),
        .optional(
          "stop", .choice(["interrupt", "terminate", "max_duration", "now"]),
          "The reason why the run ended early; absent if it did not."),
        .optional("deferred_until", .time, "The earliest time at which waiting work can continue."),
        .optional("budgets", .list(.object("Budget")), "The budgets, in each window of the run."),
        .optional("delays", .list(.object("Delay")), "The sessions whose resumes have a delay."),
        .optional("conditions", .object("Conditions"), "The machine's conditions at the end."),
        .optional(
          "edits", .list(.object("Edit")), "Work that cannot be resumed because the manifest was edited."),
        .optional(
          "fault", .string,
          "The fault that ended the run: an internal error, or a problem with its environment."),
        .optional("on_events", .list(.object("Command")), "The commands of `on_events`."),
        .optional("on_expiry", .list(.object("Command")), "The command of `on_expiry`."),
        .optional("on_end", .list(.object("RequestAtEnd")), "The requests of `on_end`."),
        .optional(
          "listed_items", .words(ReportSettings.Items.self),
          "The items that the report lists: `notable` (those that did not succeed on the first attempt) or `all`."
        ),
        .optional("shard", .string, "The part of a divided manifest, as in `--shard`."),
        .optional("pass", .string, "The pass over all parts of a divided manifest, which `setup` began."),
        .optional("restarts", .count, "The number of times that the engine has restarted the task."),
        .optional("shards", .list(.object("Shard")), "In a merged report: the parts of the manifest."),
      ]),
    SchemaObject(
      "Shard", "A part of a divided manifest, in a merged report.",
      [
        .required("part", .string, "The part, as in `--shard`."),
        .required(
          "state", .choice(["ended", "interrupted", "running", "running_elsewhere", "missing"]),
          "The state of its last run in the round; `missing` if there is no run, or if it ended without a report."
        ),
        .optional("run", .string, "The identifier of that run."),
        .optional("started_at", .time, "The start of that run."),
        .optional("ended_at", .time, "The end of that run."),
        .optional("exit_code", .integer, "The exit code of that run."),
        .optional("restarts", .count, "The number of times that the engine has restarted the task."),
        .required("runs", .count, "The number of its runs in the round that have a report."),
        .optional(
          "items", .object("ItemCounts"),
          "The number of its items in the round, by outcome, according to its last report."),
      ]),
    SchemaObject(
      "Manifest", "A manifest of the run.",
      [
        .required("name", .string, "The name of the manifest."),
        .required("path", .string, "The path of the manifest, as given."),
        .required("sha256", .string, "The hash of the manifest's text; empty for an interrupted run."),
        .required("round", .integer, "The number of the manifest's round."),
        .required("round_closed", .boolean, "Whether that round is complete."),
      ]),
    SchemaObject(
      "Budget", "A budget in one of its windows.",
      [
        .required("network", .words(FerryManifest.Budget.Scope.self), "The kind of network."),
        .required("window_start", .time, "The start of the window."),
        .required("window_end", .time, "The end of the window."),
        .required("limit_bytes", .integer, "The limit."),
        .required("used_bytes_before", .integer, "The usage when the run began; 0 in a later window."),
        .required("used_bytes_after", .integer, "The usage when the window or the run ended."),
      ]),
    SchemaObject(
      "Delay", "The resume delay of a session.",
      [
        .required("session", .string, "The name of the session."),
        .required("period_seconds", .seconds, "The length of the delay."),
        .required("ends_at", .time, "The end of the delay."),
      ]),
    SchemaObject(
      "Conditions", "The machine's conditions.",
      [
        .required("network", .words(DeviceConditions.Network.self), "The kind of network."),
        .required("is_expensive", .boolean, "Whether the network is metered."),
        .required("power", .words(DeviceConditions.Power.self), "The source of power."),
      ]),
    SchemaObject(
      "Edit", "Work that cannot be resumed because the manifest was edited.",
      [
        .required(
          "code",
          .choice([
            "upload_gone", "request_gone", "other_origin", "other_session", "other_name",
            "upload_ids_dropped",
          ]),
          "The kind of edit."),
        .required("manifest", .string, "The manifest's name in the journal."),
        .required("upload", .string, "The name of the upload, download batch, request or fetch."),
        .required("session", .string, "The session of the work."),
        .optional("origin", .string, "The origin of its server."),
        .required("items", .count, "The number of affected files; 1 for a request or fetch."),
        .required("message", .string, "An explanation for people; its wording may change."),
      ]),
    SchemaObject(
      "Command", "A start of a command of `on_events` or `on_expiry`.",
      [
        .optional("session", .string, "The session's name; absent for `on_expiry`."),
        .required("command", .string, "The first word of the command."),
        .optional("started_at", .time, "The time of the start; absent if it could not be started."),
        .optional("exit_status", .integer, "The exit status of the command."),
        .optional("signal", .integer, "The number of the signal that ended the command."),
        .optional(
          "is_running", .boolean,
          "`true` if the command was still running when the run stopped waiting for it."),
        .optional("problem", .string, "The reason why the command could not be started."),
      ]),
    SchemaObject(
      "RequestAtEnd", "A request of `on_end`.",
      [
        manifest, .required("name", .string, "The name under `on_end`."),
        .required(
          "state", .choice(["succeeded", "failed", "ambiguous", "skipped"]), "The outcome of the request."),
        .required("required", .boolean, "Whether a failure changes the exit code."),
        .optional("reason", .object("Reason"), "The reason why the request failed."),
        .required(
          "attempts", .list(.object("Attempt")),
          "The failed attempts at the request; of more than 100, the first 50 and the last 50."),
      ]),
    SchemaObject(
      "Totals", "The totals of the run.",
      [
        .required("items", .object("ItemCounts"), "The items of the round so far."),
        .required("items_done_in_run", .count, "The items that this run completed."),
        .required("bytes", .object("Bytes"), "The bytes of the run's requests."),
        .required("requests", .count, "The number of completed attempts."),
        .required("tokens_fetched", .count, "The number of tokens that were fetched."),
        .required(
          "token_refreshes", .count,
          "The number of tokens that were fetched again, to replace an expired or rejected one."),
        .required("ids_allocated", .count, "The number of upload IDs that were allocated."),
        .required(
          "ids_expired", .count, "The number of upload IDs that expired, or that the server no longer knew."),
        .optional("ids_orphaned", .count, "The number of upload IDs that were dropped without a commit."),
        .optional("ids_released", .count, "The number of upload IDs that were released."),
        .required("resumes", .count, "The number of resumes in the background."),
      ]),
    SchemaObject(
      "Bytes", "The bytes of the run's requests.",
      [
        .required("useful", .integer, "The file content that was transferred in steps that succeeded."),
        .required(
          "resent", .integer,
          "The file content that was transferred in steps that did not succeed, or whose upload started over."
        ),
        .required(
          "overhead", .integer, "The bytes of header fields, and of small requests and their responses."),
        .optional(
          "unattributed", .integer,
          "The other bytes that the sockets carried, such as those of TLS, frames and resends by libcurl."),
        .optional("sent", .count, "The bytes that the sockets sent."),
        .optional("received", .count, "The bytes that the sockets received."),
      ]),
    SchemaObject(
      "ItemCounts", "The number of items by state.",
      [
        .required("done", .count, "Items that were delivered in this round."),
        .required("failed", .count, "Items that failed."),
        .required("ambiguous", .count, "Items that a user must decide about."),
        .required("cancelled", .count, "Items that `ferry cancel` canceled."),
        .required("waiting", .count, "Items that remain for a later run."),
        .required(
          "unchanged", .count, "Items that were delivered earlier, and are not to be delivered again."),
        .optional("skipped", .count, "Items of batches that did not run."),
      ]),
  ]

  static let nodeObjects = [
    SchemaObject(
      "Node", "A token, upload, download batch, fetch or request.",
      [
        manifest, .required("name", .string, "The name of the node."),
        .required(
          "kind", .choice(["token", "upload", "download", "fetch", "request"]), "The kind of the node."),
        .optional(
          "direction", .choice(["received"]), "The direction of the transfers of a download batch."),
        .required("session", .string, "The session of the node."),
        .required(
          "state",
          .choice([
            "succeeded", "failed", "ambiguous", "cancelled", "skipped", "waiting", "not_selected",
            "not_needed",
          ]), "The outcome of the node."),
        .optional("reason", .object("Reason"), "The reason why the node did not succeed."),
        .optional("optional", .boolean, "For a request: `true` if its failure is only a warning."),
        .optional("needs", .list(.string), "The nodes for which the node waits."),
        .optional("token", .string, "The token that the node's requests use."),
        .optional("items", .object("ItemCounts"), "For a batch: the number of items by state."),
        .optional(
          "cancellations", .list(.object("Cancellation")),
          "For a batch: the reasons for which items were canceled, at most 100."),
        .optional(
          "problems", .list(.object("FileProblem")),
          "For an upload: the paths that could not be listed; for a download batch: the elements of its list that are not downloaded; at most 10,000."
        ),
        .optional("problems_omitted", .count, "The number of further such paths or elements."),
        .optional("result", .choice(["new_data", "no_data", "failed"]), "For a fetch: its result."),
        .optional("not_before", .time, "For a fetch that is not due: the time at which it is due."),
        .optional("interval_seconds", .seconds, "For a fetch: the interval until the next fetch."),
        .optional(
          "after", .object("After"),
          "For an upload that deletes or moves delivered files: the results."),
        .optional(
          "single_connection", .object("SingleConnection"),
          "For downloads with `segments`: those that used one connection because of their server."),
        .optional(
          "orphans", .object("Orphans"),
          "For an upload with unused upload IDs: how many were dropped and released."),
        .optional("work", .object("Work"), "What the run did for the node, if it sent requests."),
        .required(
          "attempts", .list(.object("Attempt")),
          "The failed attempts at the node's requests; of more than 100, the first 50 and the last 50."),
        .optional(
          "ambiguity", .object("Ambiguity"),
          "For a request or fetch that ended as ambiguous: the information for a decision."),
      ]),
    SchemaObject(
      "Cancellation", "A reason for which items were canceled.",
      [
        .required("code", .string, "A stable code."), .required("message", .string, "The reason."),
        .required("items", .count, "The number of items."),
      ]),
    SchemaObject(
      "SingleConnection", "Downloads that were to use several connections but used only one.",
      [
        .required("downloads", .count, "The number of downloads."),
        .required("reason", .string, "The reason for the last of them."),
      ]),
    SchemaObject(
      "FileProblem", "A path that could not be listed.",
      [
        .required("path", .string, "The path."),
        .optional("path_base64", .string, "The bytes of the path in Base64, if it is not UTF-8."),
        .required("code", .string, "A stable code."), .required("message", .string, "The reason."),
      ]),
    SchemaObject(
      "After", "The treatment of delivered files.",
      [
        .required("deleted", .count, "The number of deleted files."),
        .required("moved", .count, "The number of moved files."),
        .optional("remaining", .count, "The number of files that the next run will delete or move."),
        .required("problems", .list(.object("AfterProblem")), "The files that were not deleted or moved."),
      ]),
    SchemaObject(
      "AfterProblem", "A delivered file that was not deleted or moved.",
      [
        .required("path", .string, "The path."),
        .optional("path_base64", .string, "The bytes of the path in Base64, if it is not UTF-8."),
        .required("code", .string, "A stable code."), .required("message", .string, "The reason."),
        .required("is_owed", .boolean, "Whether the next run tries again."),
      ]),
    SchemaObject(
      "Orphans", "The numbers of unused upload IDs.",
      [
        .required("dropped", .count, "IDs that this run dropped."),
        .required("released", .count, "IDs that this run released."),
        .required("failed", .count, "IDs that this run could not release; the next run tries again."),
        .optional("reason", .object("Reason"), "The reason for the last failure."),
      ]),
  ]
}
