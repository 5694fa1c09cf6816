import FerryPlan
import Synchronization

/// A listing that arrives in portions, so that the first files can be sent while the others are listed.
final class PartialListing: Sendable {
  /// The number of files in a portion. An upload with at most this many files is listed at once.
  ///
  /// The journal writes a portion in one transaction, which the outcomes of requests wait for: about 10 ms.
  static let portion = 2_048

  /// Files, and whether more follow.
  enum Portion: Sendable {
    case files(FileColumns)
    /// The last files, with the problems of the whole listing.
    case last(Listing)
  }

  private let state: Mutex<State>

  private struct State {
    var walk: FolderWalk
    var ready: Portion?
  }

  /// - Parameter walk: the walk after its first portion.
  init(_ walk: sending FolderWalk) { state = Mutex(State(walk: walk, ready: nil)) }

  deinit { state.withLock { _ = $0.walk.end() } }

  /// Lists the next portion. Called on the listing thread.
  func read() {
    state.withLock { state in
      state.walk.advance(to: Self.portion)
      state.ready = state.walk.isAtEnd ? .last(state.walk.end()) : .files(state.walk.takeFiles())
    }
  }

  /// Removes and returns the portion that has been read; `nil` if there is none.
  func take() -> Portion? {
    state.withLock { state in
      defer { state.ready = nil }
      return state.ready
    }
  }
}

extension FileLister {
  /// Lists the first files of a selection by globs. If there are more than one portion, the second result lists the
  /// others.
  ///
  /// - Throws: `ListingFailure` if the root cannot be read.
  func firstFiles(_ include: [String], _ exclude: [String]) throws -> (Listing, PartialListing?) {
    let root = try checked(try folder())
    if let refusal = unknownState(of: root) { return (refused(refusal), nil) }
    var walk = try walk(include, exclude, beneath: root)
    try walk.begin()
    // If there is one more file than in a portion, the listing is partial.
    walk.advance(to: PartialListing.portion + 1)
    guard !walk.isAtEnd, !isStopped() else {
      let listing = walk.end()
      return (isStopped() ? Listing() : listing, nil)
    }
    let files = walk.takeFiles()
    return (Listing(files: files), PartialListing(walk))
  }
}
