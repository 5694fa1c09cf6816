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
        .required("state", .choice(["ended", "interrupted"]), "Whether the process was terminated."),
        .optional(
          "stop", .choice(["interrupt", "terminate", "max_duration", "now"]),
          "The reason why the run ended early."),
        .optional("deferred_until", .time, "The earliest time at which waiting work can continue."),
        .optional("budgets", .list(.object("Budget")), "The budgets, in each window of the run."),
        .optional("delays", .list(.object("Delay")), "The sessions whose resumes have a delay."),
        .optional("conditions", .object("Conditions"), "The machine's conditions at the end."),
        .optional(
          "edits", .list(.object("Edit")), "Work that cannot be resumed because the manifest was edited."),
        .optional("fault", .string, "The failure of ferry itself that ended the run."),
        .optional("on_events", .list(.object("Command")), "The commands of `on_events`."),
        .optional("on_expiry", .list(.object("Command")), "The command of `on_expiry`."),
        .optional("on_end", .list(.object("RequestAtEnd")), "The requests of `on_end`."),
        .optional(
          "listed_items", .words(ReportSettings.Items.self),
          "The items that the report lists: `notable`, those that did not succeed on the first attempt, or `all`."
        ),
        .optional("shard", .string, "The part of a divided manifest, as in `--shard`."),
        .optional("restarts", .count, "How often the engine has started the task again."),
        .optional("shards", .list(.object("Shard")), "The parts, in a merged report."),
      ]),
    SchemaObject(
      "Shard", "A part of a divided manifest, in a merged report.",
      [
        .required("part", .string, "The part, as in `--shard`."),
        .required(
          "state", .choice(["ended", "interrupted", "missing"]),
          "How its last run in the round ended; `missing` if there is no report of the round."),
        .optional("run", .string, "The identifier of that run."),
        .optional("started_at", .time, "Its start."),
        .optional("ended_at", .time, "Its end."),
        .optional("exit_code", .integer, "Its exit code."),
        .optional("restarts", .count, "How often the engine has started the task again."),
        .required("runs", .count, "The number of its runs in the round that have a report."),
        .optional("items", .object("ItemCounts"), "Its items, by outcome."),
      ]),
    SchemaObject(
      "Manifest", "A manifest of the run.",
      [
        .required("name", .string, "Its name."), .required("path", .string, "Its path as given."),
        .required("sha256", .string, "The hash of its text; empty for an interrupted run."),
        .required("round", .integer, "The number of its round."),
        .required("round_closed", .boolean, "Whether that round is complete."),
      ]),
    SchemaObject(
      "Budget", "A budget in the window in which the run began.",
      [
        .required("network", .words(FerryManifest.Budget.Scope.self), "The kind of network."),
        .required("window_start", .time, "The start of the window."),
        .required("window_end", .time, "The end of the window."),
        .required("limit_bytes", .integer, "The limit."),
        .required("used_bytes_before", .integer, "The usage when the run began."),
        .required("used_bytes_after", .integer, "The usage when the run ended."),
      ]),
    SchemaObject(
      "Delay", "The resume delay of a session.",
      [
        .required("session", .string, "The name of the session."),
        .required("period_seconds", .seconds, "The length of the delay."),
        .required("ends_at", .time, "Its end."),
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
          .choice(["upload_gone", "other_origin", "other_session", "other_name", "upload_ids_dropped"]),
          "What was edited."),
        .required("manifest", .string, "The manifest's name in the journal."),
        .required("upload", .string, "The upload."), .required("session", .string, "Its session."),
        .optional("origin", .string, "The server."),
        .required("items", .count, "The number of affected files."),
        .required("message", .string, "An explanation for people."),
      ]),
    SchemaObject(
      "Command", "A start of a command of `on_events` or `on_expiry`.",
      [
        .optional("session", .string, "The session's name; absent for `on_expiry`."),
        .required("command", .string, "The first word of the command."),
        .optional("started_at", .time, "The time of the start; absent if it could not be started."),
        .optional("exit_status", .integer, "The exit status of the command."),
        .optional("signal", .integer, "The number of the signal that ended it."),
        .optional("is_running", .boolean, "Whether it had not ended when the run stopped waiting for it."),
        .optional("problem", .string, "Why it could not be started."),
      ]),
    SchemaObject(
      "RequestAtEnd", "A request of `on_end`.",
      [
        manifest, .required("name", .string, "The name under `on_end`."),
        .required("state", .choice(["succeeded", "failed", "ambiguous", "skipped"]), "Its outcome."),
        .required("required", .boolean, "Whether a failure changes the exit code."),
        .optional("reason", .object("Reason"), "Why it failed."),
        .required("attempts", .list(.object("Attempt")), "Its failed attempts."),
      ]),
    SchemaObject(
      "Totals", "The totals of the run.",
      [
        .required("items", .object("ItemCounts"), "The items of the round so far."),
        .required("items_done_in_run", .count, "The items that this run completed."),
        .required("bytes", .object("Bytes"), "The bytes of the run's requests."),
        .required("requests", .count, "Completed attempts."),
        .required("tokens_fetched", .count, "Tokens fetched."),
        .required("token_refreshes", .count, "Tokens fetched again."),
        .required("ids_allocated", .count, "Upload IDs allocated."),
        .required("ids_expired", .count, "Upload IDs that expired."),
        .optional("ids_orphaned", .count, "Upload IDs dropped without a commit."),
        .optional("ids_released", .count, "Upload IDs released."),
        .required("resumes", .count, "How often the run resumed in the background."),
      ]),
    SchemaObject(
      "Bytes", "The bytes of the run's requests.",
      [
        .required("useful", .integer, "File content, in steps that succeeded."),
        .required(
          "resent", .integer, "File content in steps that did not succeed, or whose upload started over."),
        .required("overhead", .integer, "Header fields, small requests and their responses."),
        .optional(
          "unattributed", .integer, "What the sockets carried in addition: TLS, frames, resends by libcurl."),
        .optional("sent", .count, "What the sockets sent."),
        .optional("received", .count, "What the sockets received."),
      ]),
    SchemaObject(
      "ItemCounts", "The number of items by state.",
      [
        .required("done", .count, "Delivered in this round."), .required("failed", .count, "Failed."),
        .required("ambiguous", .count, "May have been delivered."),
        .required("cancelled", .count, "Canceled by `ferry cancel`."),
        .required("waiting", .count, "Remaining for a later run."),
        .required("unchanged", .count, "Delivered earlier."),
        .optional("skipped", .count, "Items of uploads that did not run."),
      ]),
  ]

  static let nodeObjects = [
    SchemaObject(
      "Node", "A token, upload, fetch or request.",
      [
        manifest, .required("name", .string, "Its name."),
        .required("kind", .choice(["token", "upload", "fetch", "request"]), "Its kind."),
        .required("session", .string, "Its session."),
        .required(
          "state",
          .choice([
            "succeeded", "failed", "ambiguous", "cancelled", "skipped", "waiting", "not_selected",
            "not_needed",
          ]), "Its outcome."),
        .optional("reason", .object("Reason"), "Why it did not succeed."),
        .optional("optional", .boolean, "`true` if its failure is only a warning."),
        .optional("needs", .list(.string), "The nodes for which it waits."),
        .optional("token", .string, "The token that its requests use."),
        .optional("items", .object("ItemCounts"), "For an upload."),
        .optional("cancellations", .list(.object("Cancellation")), "Why items were canceled, at most 100."),
        .optional(
          "problems", .list(.object("FileProblem")), "Paths that could not be listed, at most 10,000."),
        .optional("problems_omitted", .count, "The number of further such paths."),
        .optional("result", .choice(["new_data", "no_data", "failed"]), "For a fetch."),
        .optional("not_before", .time, "For a fetch that is not due."),
        .optional("interval_seconds", .seconds, "For a fetch: the wait until the next one."),
        .optional("after", .object("After"), "For an upload that deletes or moves delivered files."),
        .optional("orphans", .object("Orphans"), "For an upload with unused upload IDs."),
        .optional("work", .object("Work"), "What the run did for it, if it sent requests."),
        .required("attempts", .list(.object("Attempt")), "Failed attempts."),
        .optional("ambiguity", .object("Ambiguity"), "For a request or fetch that ended as ambiguous."),
      ]),
    SchemaObject(
      "Cancellation", "A reason for which items were canceled.",
      [
        .required("code", .string, "A stable code."), .required("message", .string, "The reason."),
        .required("items", .count, "The number of items."),
      ]),
    SchemaObject(
      "FileProblem", "A path that could not be listed.",
      [
        .required("path", .string, "The path."),
        .optional("path_base64", .string, "Its bytes in Base64, if it is not UTF-8."),
        .required("code", .string, "A stable code."), .required("message", .string, "The reason."),
      ]),
    SchemaObject(
      "After", "The treatment of delivered files.",
      [
        .required("deleted", .count, "Files deleted."), .required("moved", .count, "Files moved."),
        .optional("remaining", .count, "Files that the next run deletes or moves."),
        .required("problems", .list(.object("AfterProblem")), "Files that stayed."),
      ]),
    SchemaObject(
      "AfterProblem", "A delivered file that was not deleted or moved.",
      [
        .required("path", .string, "The path."),
        .optional("path_base64", .string, "Its bytes in Base64, if it is not UTF-8."),
        .required("code", .string, "A stable code."), .required("message", .string, "The reason."),
        .required("is_owed", .boolean, "Whether the next run tries again."),
      ]),
    SchemaObject(
      "Orphans", "Unused upload IDs.",
      [
        .required("dropped", .count, "Dropped in this run."), .required("released", .count, "Released."),
        .required("failed", .count, "Not released; the next run tries again."),
        .optional("reason", .object("Reason"), "The reason for the last failure."),
      ]),
  ]
}
