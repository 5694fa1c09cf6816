import FerryManifest
import FerryPlan

/// The values of references when a request is built.
///
/// Bindings are created for each item. This is cheap, because the dictionaries are shared and empty ones are
/// not allocated.
package struct Bindings: Sendable {
  package var secrets: [String: SensitiveValue]
  /// The values of the item's file; `nil` if the node has no files.
  package var file: FileValues?
  /// The values of the item's element in the list of a download batch.
  var item: [String: String] = [:]
  /// The captures of the node's token; all are sensitive.
  package var token: [String: SensitiveValue]
  /// The captures of the item's own steps.
  package var allocate: [String: BoundValue]
  package var transfer: [String: BoundValue]
  /// The captures of requests, by node and capture.
  package var requests: [String: [String: BoundValue]]
  package var run: RunValues
  /// The refresh token that the server has issued in place of the one in the manifest; `nil` if it has issued none.
  package var refreshToken: SensitiveValue?

  package struct RunValues: Sendable {
    package var id: String
    package var done: Int
    package var failed: Int
    package var exitCode: ExitCode

    package init(id: String = "", done: Int = 0, failed: Int = 0, exitCode: ExitCode = .success) {
      self.id = id
      self.done = done
      self.failed = failed
      self.exitCode = exitCode
    }
  }

  package init(
    secrets: [String: SensitiveValue] = [:], file: FileValues? = nil, token: [String: SensitiveValue] = [:],
    allocate: [String: BoundValue] = [:], transfer: [String: BoundValue] = [:],
    requests: [String: [String: BoundValue]] = [:], run: RunValues = RunValues()
  ) {
    self.secrets = secrets
    self.file = file
    self.token = token
    self.allocate = allocate
    self.transfer = transfer
    self.requests = requests
    self.run = run
  }

  /// The value of a reference; `nil` if the reference has no value yet.
  func value(of reference: Reference) -> ReferenceValue? {
    switch reference {
    case .secret(let name): secrets[name].map { .bound(.sensitive($0)) }
    case .token(let capture): token[capture].map { .bound(.sensitive($0)) }
    case .allocate(let capture): allocate[capture].map { .bound($0) }
    case .transfer(let capture): transfer[capture].map { .bound($0) }
    case .request(let name, let capture): requests[name]?[capture].map { .bound($0) }
    case .file(let field): file.flatMap { Self.value(of: field, in: $0) }
    case .item(let field): item[field].map { .text($0) }
    case .run(let field): value(of: field)
    }
  }

  private static func value(of field: Reference.FileField, in file: FileValues) -> ReferenceValue? {
    switch field {
    case .name: .bytes(file.name)
    case .path: .bytes(file.path[...])
    case .stem: .bytes(file.stem)
    case .extension: .bytes(file.extension)
    case .size: .number(file.size)
    case .sha256: file.sha256.map { .text($0) }
    case .modified: .text(Instant(nanoseconds: file.modified).rfc3339(in: .utc))
    }
  }

  private func value(of field: Reference.RunField) -> ReferenceValue {
    switch field {
    case .id: .text(run.id)
    case .done: .number(Int64(run.done))
    case .failed: .number(Int64(run.failed))
    case .exitCode: .number(Int64(run.exitCode.rawValue))
    case .status: .text(run.exitCode.word)
    }
  }
}
