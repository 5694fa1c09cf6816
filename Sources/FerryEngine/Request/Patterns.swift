import FerryManifest
import FerryPlan

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// The regular expressions of a step, compiled once for all its responses.
package struct Patterns: Sendable {
  private var compiled: [String: Pattern] = [:]

  /// Whether responses to the step can be read without a search.
  package var isEmpty: Bool { compiled.isEmpty }

  package init(_ captures: [Capture] = [], _ expectation: Expectation = .init()) {
    var texts = [expectation.regex].compactMap(\.self)
    for capture in captures {
      if case .regex(let text) = capture.source { texts.append(text) }
    }
    for text in texts {
      // The manifest's reader has already compiled the pattern. If the pattern does not compile here, using
      // it fails.
      compiled[text] = try? Pattern(text)
    }
  }

  func firstMatch(of text: String, in subject: String) throws(SearchFailure) -> Pattern.Match? {
    guard let pattern = compiled[text] else { throw .malformed }
    let end = Self.threadTime + Self.timeLimit(size: subject.utf8.count)
    do {
      return try pattern.firstMatch(in: subject) { Self.threadTime >= end }
    } catch {
      throw .tooMuchWork
    }
  }

  /// The maximum CPU time of a search in nanoseconds: one second for 1 MiB. The number of steps is also limited; the
  /// time limit is for searches with slow steps.
  private static func timeLimit(size: Int) -> Int64 { 800_000_000 + 200 * Int64(size) }

  /// The CPU time of this thread in nanoseconds, which does not depend on the load of the machine.
  private static var threadTime: Int64 {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
  }
}

/// The reason why a response could not be searched.
enum SearchFailure: Error {
  case malformed
  /// The pattern needs more than the maximum number of steps.
  case tooMuchWork
}
