import FerryPlan

/// The list of files of `ferry submit --list`.
package enum SubmittedList {
  /// - Parameter path: `-` is standard input.
  /// - Throws: `UsageError` if the list cannot be read to its end, because the last path of a truncated list could name a
  ///   different file.
  package static func bytes(_ path: String) throws(UsageError) -> [UInt8] {
    func refused(_ reason: String) -> UsageError {
      UsageError(
        "\(reason)\nhelp: check that the list exists, that you may read it, and that it has at most 1 GiB")
    }
    guard path != "-" else {
      do throws(ListingFailure) {
        return try StandardInput.bytes { false }
      } catch {
        throw refused(error.message)
      }
    }
    do throws(FileContents.Failure) {
      return try FileContents(path).allBytes(limit: FileLister.largestList)
    } catch {
      throw refused("cannot read the list \(DisplayPath.shown(path)): \(error.reason)")
    }
  }
}
