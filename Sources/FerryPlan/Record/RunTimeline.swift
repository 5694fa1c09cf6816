/// The progress of a run over time, in at most `maximumCount` samples. Its keys are part of the public interface.
package struct RunTimeline: Hashable, Codable, Sendable {
  /// The time from one sample to the next. The last sample is taken when the run's work ends.
  package var intervalSeconds: Double
  /// The time from the run's start to the last sample.
  package var durationSeconds: Double
  /// The bytes of files and other data sent and received so far, at each sample.
  package var bytes: [Int64] = []
  /// The number of requests that have ended, at each sample.
  package var requests: [Int] = []
  /// The number of items that the run has completed, at each sample.
  package var itemsDone: [Int] = []
  /// The number of requests in progress, at each sample.
  package var inFlight: [Int] = []
  /// The activities of the nodes.
  package var nodes: [NodeSpans] = []
  /// The resumes of sessions that have a delay, at most a thousand.
  package var resumes: [Resume] = []

  /// The largest number of samples. When it is reached, every second sample is dropped, and the interval doubles.
  package static let maximumCount = 400

  package init(intervalSeconds: Double, durationSeconds: Double) {
    self.intervalSeconds = intervalSeconds
    self.durationSeconds = durationSeconds
  }

  /// The activities of a node, in chronological order. A node that the run did not open has no spans.
  package struct NodeSpans: Hashable, Codable, Sendable {
    /// Present if the run has several manifests.
    package var manifest: String?
    package var name: String
    package var spans: [Span]

    package init(manifest: String?, name: String, spans: [Span]) {
      self.manifest = manifest
      self.name = name
      self.spans = spans
    }
  }

  package struct Span: Hashable, Codable, Sendable {
    package var activity: NodeActivity
    /// The start and the end, in seconds since the run's start.
    package var from: Double
    package var to: Double

    package init(_ activity: NodeActivity, from: Double, to: Double) {
      self.activity = activity
      self.from = from
      self.to = to
    }
  }

  /// A resume of a session in the background.
  package struct Resume: Hashable, Codable, Sendable {
    package var session: String
    /// The time of the resume, in seconds since the run's start.
    package var at: Double
    /// The delay that follows.
    package var periodSeconds: Double

    package init(session: String, at: Double, periodSeconds: Double) {
      self.session = session
      self.at = at
      self.periodSeconds = periodSeconds
    }
  }
}

/// The activity of a node. The raw values are a stable public interface.
package enum NodeActivity: String, Codable, Sendable, CaseIterable {
  /// A request is in progress: `allocate`, `transfer`, `commit` or its probe, or any other request, including
  /// a download.
  case allocating, sending, committing, requesting
  /// All unfinished items of the node wait to be retried.
  case retrying
  /// The node waits for a token, the budget, the resume delay, the machine's conditions, or a connection.
  case token, budget, delay, conditions, queued
}
