import Foundation
import Testing

/// A short job whose state folder has faults. Its files have distinct names, because several jobs may share a receiver.
struct FaultyJob {
  enum Kind: String, CaseIterable, CustomTestStringConvertible {
    /// Uploads with upload IDs, whose commits have `already_done`.
    case uploads
    /// POST requests, which cannot be repeated.
    case posts

    var testDescription: String { rawValue }
  }

  let kind: Kind
  let job: Workspace
  let receiver: ReceiverProcess
  let title: String
  private let prefix: String
  let names: [String]

  static let session = "e2e.uploads"

  /// - Parameter label: distinguishes this job from others at the receiver.
  init(_ kind: Kind, files count: Int, at receiver: ReceiverProcess, label: String) throws {
    self.kind = kind
    self.receiver = receiver
    title = "\(kind) \(label)"
    prefix = "\(kind)-\(label)-"
    let nodes = kind == .uploads ? JobText.uploadIDs() : JobText.posts
    job = try Workspace(
      JobText.text(
        server: receiver.url, connections: 2,
        nodes.replacing("${file.path}", with: prefix + "${file.path}")))
    names = (0..<count).map { "f\($0)" }
    for name in names { try job.write("\(title) \(name)", to: name) }
  }

  func start(_ settings: [String: String]) async throws -> RunningCommand {
    let environment = try await StateFaults.environment(
      settings, state: job.state, log: job.folder.path("operations"))
    return try job.start(["run", "job.yaml", "--quiet"], environment: environment)
  }

  func recording() throws -> StateRecording {
    try StateRecording(log: URL(filePath: job.folder.path("operations")), folder: job.state)
  }

  /// How often the server has received each file, by the file's name in this job.
  func deliveries() async throws -> [String: Int] {
    let received = try await receiver.received()
    let all =
      kind == .uploads
      ? received.byName.mapValues(\.commits)
      : Dictionary(grouping: received.inbox, by: \.name).mapValues(\.count)
    return Dictionary(
      uniqueKeysWithValues: all.filter { $0.key.hasPrefix(prefix) && $0.value > 0 }
        .map { (String($0.key.dropFirst(prefix.count)), $0.value) })
  }

  func recorded() async throws -> RecordedItems {
    try await RecordedItems.read(session: Self.session, state: job.state)
  }

  /// Checks that the journal has recorded everything that the server has received, at least as an intent.
  func checkNothingUntold(_ moment: String) async throws {
    let recorded = try await recorded()
    #expect(recorded.integrity == "ok", "\(moment)")
    for (name, count) in try await deliveries() {
      #expect(count == 1, "\(moment): \(name) was delivered \(count) times")
      let state = recorded.states[name] ?? .queued
      let isTold = [.transferred, .done, .ambiguous].contains(state) || recorded.intents.contains(name)
      #expect(isTold, "\(moment): \(name) was delivered and is on record as \(state)")
    }
  }

  /// Runs the job to its end, without faults.
  func finish(_ moment: String) async throws {
    let (command, report) = try await job.run()
    #expect(report.run.roundClosed, "\(moment): \(command.stdout)\(command.stderr)")
    let recorded = try await recorded()
    let ambiguous = recorded.names(.ambiguous)
    #expect(command.status == (ambiguous.isEmpty ? 0 : 1), "\(moment): \(command.stdout)\(command.stderr)")
    #expect(recorded.names(.done).union(ambiguous) == Set(names), "\(moment): \(recorded.states)")
    #expect(ambiguous.isEmpty || kind == .posts, "\(moment)")
    #expect(report.totals.items.ambiguous == ambiguous.count, "\(moment)")
    let deliveries = try await deliveries()
    for name in names {
      let count = deliveries[name, default: 0]
      let isRight = count == 1 || (count == 0 && ambiguous.contains(name))
      #expect(isRight, "\(moment): \(name) was delivered \(count) times, \(recorded.states[name] ?? .queued)")
    }
  }
}
