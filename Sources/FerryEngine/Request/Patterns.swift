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

  /// Whether reading a response of the step searches it.
  package var isEmpty: Bool { compiled.isEmpty }

  package init(_ captures: [Capture] = [], _ expectation: Expectation = .init()) {
    var texts = [expectation.regex].compactMap(\.self)
    for capture in captures {
      if case .regex(let text) = capture.source { texts.append(text) }
    }
    for text in texts {
      // The manifest's reader has compiled it before; what does not compile fails where it is used.
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

  /// In nanoseconds. A search is counted in steps; this bounds one whose steps are long: a second for 1 MiB.
  private static func timeLimit(size: Int) -> Int64 { 800_000_000 + 200 * Int64(size) }

  /// What this thread has used of a processor, in nanoseconds: that others are busy ends no search.
  private static var threadTime: Int64 {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
  }
}

/// Why a response could not be searched.
enum SearchFailure: Error {
  case malformed
  /// The pattern takes more steps than are allowed.
  case tooMuchWork
}
