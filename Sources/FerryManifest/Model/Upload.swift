/// An upload batch: files, and the steps that are performed for each of them.
package struct Upload: Equatable, Sendable {
  package enum Deliver: String, Codable, Sendable, CaseIterable {
    case once
    case whenChanged = "when_changed"
    case everyRun = "every_run"
  }

  /// How `when_changed` detects that a delivered file has changed.
  package enum Compare: String, Codable, Sendable, CaseIterable {
    /// Its size or its modification time.
    case modification
    /// Its size or, if the size is the same, the SHA-256 of its content.
    case content
  }

  package var name: Located<String>
  package var session: Located<String>
  package var token: Located<String>?
  package var needs: [Located<String>]
  package var files: FileSelection
  /// Default when_changed.
  package var deliver: Deliver
  /// Default modification.
  package var compare: Compare
  /// 0.0 … 1.0, higher first. Default 0.5.
  package var priority: Double
  package var batch: Batch
  package var allocate: Allocate?
  package var transfer: Transfer
  package var commit: Commit?
  package var abandon: Abandon?
  package var after: After
  package var retry: RetryPolicy
  package var places = Places()

  /// The locations of content that only a launch can check. All values are equal, so adding a comment above
  /// changes no plan.
  package struct Places: Equatable, Sendable {
    /// The location of each pattern of `files.include`; empty if the default applies.
    package var include: [SourceLocation] = []
    /// The location of `allocate.valid_for`.
    package var validFor: SourceLocation?

    package init() {}
    package static func == (a: Self, b: Self) -> Bool { true }
  }

  /// The limits of one batch of items.
  package struct Batch: Hashable, Codable, Sendable {
    package var maxItems: Int?
    /// In bytes.
    package var maxBytes: Int64?

    package init(maxItems: Int? = nil, maxBytes: Int64? = nil) {
      self.maxItems = maxItems
      self.maxBytes = maxBytes
    }
  }

  /// The token that a step carries.
  package enum StepToken: Hashable, Codable, Sendable {
    /// The token of the node.
    case inherited
    /// `token: none`, for example for a presigned URL on another host.
    case none
  }

  /// The upload-ID step.
  package struct Allocate: Equatable, Sendable {
    /// The node's own session if the manifest names none.
    package var session: Located<String>?
    package var token: StepToken
    package var request: RequestTemplate
    package var expect: Expectation
    package var capture: [Capture]
    /// How long an ID may be used after its response; `nil` means indefinitely.
    package var validFor: Duration?

    package init(
      session: Located<String>? = nil, token: StepToken = .inherited, request: RequestTemplate,
      expect: Expectation = .init(), capture: [Capture] = [], validFor: Duration? = nil
    ) {
      self.session = session
      self.token = token
      self.request = request
      self.expect = expect
      self.capture = capture
      self.validFor = validFor
    }
  }

  package struct Transfer: Equatable, Sendable {
    package enum `Protocol`: String, Codable, Sendable, CaseIterable {
      case put
      case post
      case multipartForm = "multipart_form"
      case contentRange = "content_range"
      case tus
      case resumable
      case s3Multipart = "s3_multipart"

      /// The default method of a transfer's request.
      package var method: String {
        switch self {
        case .put, .contentRange, .s3Multipart: "PUT"
        case .post, .multipartForm: "POST"
        case .tus, .resumable: "PATCH"
        }
      }
    }

    package var `protocol`: `Protocol`
    package var token: StepToken
    /// If the manifest gives no method, the protocol determines it. The body is the file.
    package var request: RequestTemplate
    package var expect: Expectation
    package var capture: [Capture]

    package init(
      protocol: `Protocol` = .put, token: StepToken = .inherited, request: RequestTemplate,
      expect: Expectation = .init(), capture: [Capture] = []
    ) {
      self.protocol = `protocol`
      self.token = token
      self.request = request
      self.expect = expect
      self.capture = capture
    }
  }

  package struct Commit: Equatable, Sendable {
    package var session: Located<String>?
    package var token: StepToken
    package var request: RequestTemplate
    package var expect: Expectation
    /// The statuses with which the server responds to a commit that was already executed; `nil` if there are
    /// none.
    package var alreadyDone: [Int]?
    /// The header field that carries a key, which is the same for every attempt.
    package var idempotencyHeader: String?
    package var probe: Probe?

    package init(
      session: Located<String>? = nil, token: StepToken = .inherited, request: RequestTemplate,
      expect: Expectation = .init(), alreadyDone: [Int]? = nil, idempotencyHeader: String? = nil,
      probe: Probe? = nil
    ) {
      self.session = session
      self.token = token
      self.request = request
      self.expect = expect
      self.alreadyDone = alreadyDone
      self.idempotencyHeader = idempotencyHeader
      self.probe = probe
    }

    /// A request that asks whether the commit was executed.
    package struct Probe: Equatable, Sendable {
      package var request: RequestTemplate
      /// The responses that confirm that it was.
      package var expect: Expectation

      package init(request: RequestTemplate, expect: Expectation = .init()) {
        self.request = request
        self.expect = expect
      }
    }
  }

  /// The request that releases an upload ID that will not be used.
  package struct Abandon: Equatable, Sendable {
    package var session: Located<String>?
    package var token: StepToken
    package var request: RequestTemplate
    package var expect: Expectation

    package init(
      session: Located<String>? = nil, token: StepToken = .inherited, request: RequestTemplate,
      expect: Expectation = .init()
    ) {
      self.session = session
      self.token = token
      self.request = request
      self.expect = expect
    }
  }

  /// What happens to a file after it is delivered.
  package enum After: Hashable, Codable, Sendable {
    case keep
    case delete
    /// Moves it to a folder relative to `root`, which is never listed.
    case moveTo(String)
  }

  package init(
    name: Located<String>, session: Located<String>, token: Located<String>? = nil,
    needs: [Located<String>] = [], files: FileSelection, deliver: Deliver = .whenChanged,
    compare: Compare = .modification, priority: Double = 0.5, batch: Batch = .init(),
    allocate: Allocate? = nil, transfer: Transfer, commit: Commit? = nil, abandon: Abandon? = nil,
    after: After = .keep, retry: RetryPolicy = .init()
  ) {
    self.name = name
    self.session = session
    self.token = token
    self.needs = needs
    self.files = files
    self.deliver = deliver
    self.compare = compare
    self.priority = priority
    self.batch = batch
    self.allocate = allocate
    self.transfer = transfer
    self.commit = commit
    self.abandon = abandon
    self.after = after
    self.retry = retry
  }
}
