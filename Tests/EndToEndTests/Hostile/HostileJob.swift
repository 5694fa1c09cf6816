import Foundation

/// A manifest whose nodes or files each receive a different hostile response, all from one receiver.
struct HostileJob {
  let receiver: ReceiverProcess
  let job: Workspace

  /// - Parameters:
  ///   - requestTimeout: long enough for a busy machine, and short enough for a test.
  ///   - nodes: the nodes of the manifest.
  init(
    _ receiver: ReceiverProcess, requestTimeout: String = "3s", resourceTimeout: String = "1m",
    _ nodes: String...
  ) throws {
    self.receiver = receiver
    job = try Workspace(
      """
      version: 1
      name: hostile
      vars: { api: "\(receiver.url)" }
      secrets:
        client_secret: { env: E2E_SECRET }
      sessions:
        quick:
          timeout_for_request: \(requestTimeout)
          timeout_for_resource: \(resourceTimeout)
          max_connections_per_host: 16
        slow: { timeout_for_request: \(requestTimeout), timeout_for_resource: 6s, max_connections_per_host: 16 }
        uploads:
          kind: background
          identifier: hostile.uploads
          timeout_for_request: \(requestTimeout)
          timeout_for_resource: \(resourceTimeout)
          max_connections_per_host: 16
        slow_uploads:
          kind: background
          identifier: hostile.late
          timeout_for_request: \(requestTimeout)
          timeout_for_resource: 6s
          max_connections_per_host: 16

      """ + nodes.joined(separator: "\n") + "\n")
  }

  static let noRetry = "retry: { limit: 0, initial: 10ms, max: 10ms }"
  static let retry = "retry: { limit: 2, initial: 10ms, max: 10ms }"

  /// Runs the manifest. The test fails if the run takes longer than the limit.
  func run(
    within limit: Duration = .seconds(40), environment: [String: String] = [:]
  ) async throws -> (command: Command, report: RunReport) {
    let running = try job.start(
      ["run", "job.yaml", "--quiet", "--report", "report.json"], environment: environment)
    let command = try await running.end(within: limit)
    do {
      return (command, try job.report())
    } catch {
      throw CommandFailure(description: "\(error)\n\(command.status)\n\(command.stdout)\n\(command.stderr)")
    }
  }
}
