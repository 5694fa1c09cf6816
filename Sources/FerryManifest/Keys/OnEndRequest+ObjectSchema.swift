extension OnEndRequest {
  static let shape = ObjectSchema<OnEndRequest>(
    "Request at the end",
    doc: """
      A request that every run sends when its work has ended, regardless of the exit code. It is not part of the graph: \
      nothing can wait for it, and it is not recorded in a journal. It is not sent if the run could not start, for \
      example because the manifest has an error or another process holds a session.
      """,
    keys: [
      .session(\.request.session),
      .token(\.request.token),
      Key(
        "when", \.request.when, .choice(), default: .value("always"),
        doc: """
          The exit codes for which the request is sent: `succeeded` means 0, `failed` means any except 0, 8 \
          and 10. \
          Codes 8 and 10 only mean that work remains for a later run.
          """,
        example: "failed"),
      .request(\.request.request),
      .stepSign(\.request.request.sign),
      .stepAuth(\.request.request.auth),
      .expect(\.request.expect),
      .retry(\.request.retry),
      .repeatable(\.request.isRepeatable),
      Key(
        "grace", \.grace, .duration(atLeast: .milliseconds(1)),
        doc: """
          The time limit for the request with its retries and its token. It begins when the run's work has ended, or \
          when a signal or `--max-duration` has stopped it.
          """,
        example: "10s"),
      Key(
        "required", \.isRequired, .boolean,
        doc:
          "Whether a failure of the request counts as the failure of an item: the run then exits with 1, unless another code takes precedence. If `false`, a failure is only a warning.",
        example: "true"),
    ],
    blank: { name, _ in
      OnEndRequest(
        request: SingleRequest(
          name: name, session: Located("", at: name.location), when: .always,
          request: RequestTemplate(url: Template([]))))
    },
    place: { _, name in .onEnd(name) })
}
