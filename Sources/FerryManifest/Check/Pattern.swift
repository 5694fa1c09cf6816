import CPCRE2

/// A compiled regular expression (PCRE2) whose search is bounded in work and memory, whatever the subject is.
///
/// PCRE2's own match limit is no bound for a whole search: it counts from zero again at each position of the
/// subject, and the loop over a single character class, such as `\d+`, does not count at all. So every item of the
/// pattern calls out (PCRE2_AUTO_CALLOUT), and the callout counts the items that were tried and the bytes that were
/// passed over.
///
/// `@unchecked Sendable`: compiled code is never changed after `init`, and PCRE2 allows several threads to match with
/// it at once (pcre2api(3), "Multithreading").
package final class Pattern: @unchecked Sendable {
  private let code: OpaquePointer
  /// How many groups capture.
  package let groupCount: Int

  /// Why a pattern does not compile.
  package struct Malformed: Error, Equatable {
    /// PCRE2's words.
    package var message: String
    /// How many characters of the pattern come before the place.
    package var offset: Int
  }

  /// The search was given up: the work on this subject goes beyond the bound.
  package struct TooMuchWork: Error, Equatable {}

  package struct Match: Equatable, Sendable {
    /// What the first group matched; `nil` where there is none, or it took no part.
    package var firstGroup: String?
  }

  package init(_ pattern: String) throws(Malformed) {
    let bytes = Array(pattern.utf8)
    var number: Int32 = 0
    var offset = 0
    // \C would split a character, and what it captures would not be UTF-8.
    let options = PCRE2_UTF | PCRE2_NEVER_BACKSLASH_C | PCRE2_AUTO_CALLOUT
    guard let code = pcre2_compile_8(bytes, bytes.count, options, &number, &offset, nil) else {
      let before = bytes.prefix(offset)
      throw Malformed(
        message: Self.message(number), offset: String(decoding: before, as: UTF8.self).unicodeScalars.count)
    }
    self.code = code
    var count: UInt32 = 0
    pcre2_pattern_info_8(code, UInt32(PCRE2_INFO_CAPTURECOUNT), &count)
    groupCount = Int(count)
  }

  deinit { pcre2_code_free_8(code) }

  private static func message(_ number: Int32) -> String {
    var buffer = [UInt8](repeating: 0, count: 256)
    let count = pcre2_get_error_message_8(number, &buffer, buffer.count)
    guard count >= 0 else { return "error \(number)" }
    return String(decoding: buffer.prefix(Int(count)), as: UTF8.self)
  }

  // MARK: The search

  /// The first match in the subject.
  ///
  /// - Parameters:
  ///   - subject: where it is searched. That a Swift string is valid UTF-8 spares PCRE2 the check.
  ///   - isOutOfTime: called every few hundred steps. It ends a search whose work the callouts do not see, such as that of
  ///     `\d{60000}x` in runs of 59,999 digits: at each of them PCRE2 looks at all the others before it fails.
  package func firstMatch(
    in subject: String, isOutOfTime: @escaping () -> Bool = { false }
  ) throws(TooMuchWork) -> Match? {
    guard let data = pcre2_match_data_create_from_pattern_8(code, nil),
      let context = pcre2_match_context_create_8(nil)
    else { throw TooMuchWork() }
    defer {
      pcre2_match_data_free_8(data)
      pcre2_match_context_free_8(context)
    }
    var subject = subject
    let found = subject.withUTF8 { bytes in
      var work = SearchWork(limit: SearchWork.limit(size: bytes.count), isOutOfTime: isOutOfTime)
      pcre2_set_match_limit_8(context, SearchWork.matchLimit)
      pcre2_set_depth_limit_8(context, SearchWork.depthLimit)
      pcre2_set_heap_limit_8(context, SearchWork.heapLimit)
      return withUnsafeMutablePointer(to: &work) { work in
        pcre2_set_callout_8(
          context,
          { block, work in
            guard let block, let work else { return 0 }
            return work.assumingMemoryBound(to: SearchWork.self).pointee.count(
              at: block.pointee.current_position)
          }, work)
        // An empty string may have no address, and PCRE2 wants one.
        let result =
          if let start = bytes.baseAddress {
            pcre2_match_8(code, start, bytes.count, 0, PCRE2_NO_UTF_CHECK, data, context)
          } else {
            pcre2_match_8(code, [0], 0, 0, PCRE2_NO_UTF_CHECK, data, context)
          }
        return Self.found(result, data, in: bytes)
      }
    }
    return try found.get()
  }

  private static func found(
    _ result: Int32, _ data: OpaquePointer, in bytes: UnsafeBufferPointer<UInt8>
  ) -> Result<Match?, TooMuchWork> {
    guard result != PCRE2_ERROR_NOMATCH else { return .success(nil) }
    // A limit, or no memory: nothing else can go wrong with a pattern that compiled and a subject that is UTF-8.
    guard result > 0 else { return .failure(TooMuchWork()) }
    // The result is one more than the number of the last group that matched.
    guard result > 1, let ends = pcre2_get_ovector_pointer_8(data) else { return .success(Match()) }
    // A group within a lookahead with \K may end before it starts.
    guard ends[2] <= ends[3], ends[3] <= bytes.count else { return .success(Match()) }
    return .success(Match(firstGroup: String(decoding: bytes[ends[2]..<ends[3]], as: UTF8.self)))
  }
}
