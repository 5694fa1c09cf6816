import CPCRE2

/// A compiled regular expression (PCRE2). The work and memory of a search are bounded for every subject.
///
/// PCRE2's own match limit does not bound a whole search: it restarts from zero at each position of the
/// subject, and it does not count the loop over a single character class such as `\d+`. Every item of the
/// pattern therefore has a callout (PCRE2_AUTO_CALLOUT), which counts the items tried and the bytes passed
/// over.
///
/// `@unchecked Sendable`: the compiled code is not changed after `init`, and PCRE2 allows several threads to
/// match with it at once (pcre2api(3), "Multithreading").
package final class Pattern: @unchecked Sendable {
  private let code: OpaquePointer
  /// The number of capturing groups.
  package let groupCount: Int

  /// The reason why a pattern does not compile.
  package struct Malformed: Error, Equatable {
    /// PCRE2's message.
    package var message: String
    /// The number of characters in the pattern before the error.
    package var offset: Int
  }

  /// The search was aborted because its work on this subject exceeds the limit.
  package struct TooMuchWork: Error, Equatable {}

  package struct Match: Equatable, Sendable {
    /// The text matched by the first group; `nil` if there is no group, or the group did not take part in
    /// the match.
    package var firstGroup: String?
  }

  package init(_ pattern: String) throws(Malformed) {
    let bytes = Array(pattern.utf8)
    var number: Int32 = 0
    var offset = 0
    // \C could split a character, so that a capture would not be valid UTF-8.
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
  ///   - subject: the text to search. A Swift string is valid UTF-8, so PCRE2 does not need to check it.
  ///   - isOutOfTime: called every few hundred steps. It ends a search whose work is invisible to the
  ///     callouts, such as the search for `\d{60000}x` in runs of 59,999 digits: at each digit, PCRE2 reads
  ///     all the following digits before it fails.
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
        // The address of an empty string may be null, but PCRE2 requires an address.
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
    // A limit was reached, or memory is exhausted. These are the only possible errors for a compiled pattern
    // and a UTF-8 subject.
    guard result > 0 else { return .failure(TooMuchWork()) }
    // The result is the number of the last group that matched, plus one.
    guard result > 1, let ends = pcre2_get_ovector_pointer_8(data) else { return .success(Match()) }
    // The end of a group in a lookahead with \K may precede its start.
    guard ends[2] <= ends[3], ends[3] <= bytes.count else { return .success(Match()) }
    return .success(Match(firstGroup: String(decoding: bytes[ends[2]..<ends[3]], as: UTF8.self)))
  }
}
