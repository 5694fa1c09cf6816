/// An upload batch: files, and the steps for each file.
package struct Upload: Equatable, Sendable {
  package enum Deliver: String, Codable, Sendable, CaseIterable {
    case once
    case whenChanged = "when_changed"
    case everyRun = "every_run"
  }

  /// How `when_changed` detects that a delivered file has changed.
  package enum Compare: String, Codable, Sendable, CaseIterable {
    /// A file has changed if its size or its modification time is different.
    case modification
    /// A file has changed if its size is different or, if the size is the same, if the SHA-256 of its content
    /// is different.
    case content
  }

  package var name: Located<String>
  package var session: Located<String>
  package var token: Located<String>?
  package var needs: [Located<String>]
  package var files: FileSelection
  /// Which files are sent again; `when_changed` by default.
  package var deliver: Deliver
  /// How changes of delivered files are detected; `modification` by default.
  package var compare: Compare
  /// The priority, from 0.0 to 1.0. Uploads with a higher priority are sent first. Default 0.5.
  package var priority: Double
  package var batch: Batch
  package var allocate: Allocate?
  package var transfer: Transfer
  package var commit: Commit?
  package var abandon: Abandon?
  package var after: After
  package var retry: RetryPolicy
  package var places = Places()

  /// The locations of content that only a launch can check. All values compare as equal, so adding a comment
  /// to the manifest does not change a plan.
  package struct Places: Equatable, Sendable {
    /// The location of each pattern in `files.include`; empty if the default applies.
    package var include: [SourceLocation] = []
    /// The location of `allocate.valid_for`.
    package var validFor: SourceLocation?

    package init() {}
    package static func == (a: Self, b: Self) -> Bool { true }
  }

  /// The limits of one batch of items.
  package struct Batch: Hashable, Codable, Sendable {
    package var maxItems: Int?
    /// The maximum total size of the items in bytes; `nil` for no limit.
    package var maxBytes: Int64?

    package init(maxItems: Int? = nil, maxBytes: Int64? = nil) {
      self.maxItems = maxItems
      self.maxBytes = maxBytes
    }
  }

  /// The token that a step uses.
  package enum StepToken: Hashable, Codable, Sendable {
    /// The token of the node.
    case inherited
    /// `token: none`, for example for a presigned URL on another host.
    case none
  }

  /// The step that requests an upload ID.
  package struct Allocate: Equatable, Sendable {
    /// The session of the step; `nil` for the upload's session.
    package var session: Located<String>?
    package var token: StepToken
    package var request: RequestTemplate
    package var expect: Expectation
    package var capture: [Capture]
    /// How long an ID is valid after the response that allocated it; `nil` means no limit.
    package var validFor: Duration?
    /// The statuses of responses to a transfer or commit that mean that the upload ID can no longer be used.
    package var renewOn: [Int] = []

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
        case .post, .multipartForm, .resumable: "POST"
        case .tus: "PATCH"
        }
      }
    }

    /// The request that asks a server for the offset of an upload session.
    package enum OffsetQuery: String, Codable, Sendable, CaseIterable {
      /// A PUT without a body, with `Content-Range: bytes */1000` (Google).
      case put
      /// A GET of the session's URL (Microsoft, OCI).
      case get
      /// A HEAD of the session's URL.
      case head
    }

    /// The content of the request that creates an upload (tus).
    package enum Creation: String, Codable, Sendable, CaseIterable {
      /// The request contains no bytes of the file.
      case empty
      /// The first bytes of the file.
      case withUpload = "with_upload"
    }

    /// The checksum that is sent with each part (tus, S3).
    package enum Checksum: String, Codable, Sendable, CaseIterable {
      case sha1
      case sha256
      case crc32
      case crc32c
    }

    /// The default size of a chunk for `content_range`, and for `tus` with a checksum: a multiple of both 256 KiB
    /// (Google) and 320 KiB (Microsoft).
    package static let defaultChunkSize: Int64 = 10 << 20

    /// The default minimum size, in bytes, of a file that is sent in parts at the same time.
    package static let defaultThreshold: Int64 = 16 << 20

    package var `protocol`: `Protocol`
    /// The number of bytes in each request except the last one, for protocols that send a file in parts; `nil` for the
    /// protocol's default.
    package var chunkSize: Int64?
    /// The size of each part of an S3 upload except the last one, in bytes; `nil` for 8 MiB.
    package var partSize: Int64?
    /// The minimum size of a file that is sent in parts at the same time (S3, tus), in bytes; `nil` for the default.
    package var threshold: Int64?
    /// The maximum number of parts of one file that are sent at the same time (S3, tus); `nil` for the
    /// protocol's default.
    package var parallelParts: Int?
    /// The content of the request that creates the upload (tus); `nil` if the request contains no bytes of
    /// the file.
    package var creation: Creation?
    /// The pairs of `Upload-Metadata` (tus).
    package var metadata: [RequestTemplate.Field] = []
    /// The checksum that is sent with each part; `nil` for none.
    package var checksum: Checksum?
    /// The value of `Upload-Draft-Interop-Version` (`resumable`); `nil` for the default.
    package var interopVersion: Int?
    /// The request that asks for the offset; `nil` if the method of the upload's request determines it.
    package var offsetQuery: OffsetQuery?
    package var token: StepToken
    /// The request. Its body is the file; by default, the protocol determines its method.
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
    /// The status codes with which the server responds to a commit that has already been executed; `nil` if
    /// the manifest does not list any.
    package var alreadyDone: [Int]?
    /// The header field that carries the idempotency key, which is the same for every attempt.
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
      /// The conditions of a response that confirms the commit.
      package var expect: Expectation

      package init(request: RequestTemplate, expect: Expectation = .init()) {
        self.request = request
        self.expect = expect
      }
    }
  }

  /// The request that releases an unused upload ID.
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

  /// The treatment of a file after its delivery.
  package enum After: Hashable, Codable, Sendable {
    case keep
    case delete
    /// Moves the file to a folder relative to `root`. Files in that folder are never listed.
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

  /// Whether the parts of a file are partial uploads of tus, which a final request concatenates. An upload that the
  /// request of `allocate` creates is not divided.
  package var concatenatesParts: Bool {
    transfer.protocol == .tus && allocate == nil && transfer.parallelParts ?? 1 > 1
  }
}
