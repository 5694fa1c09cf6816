/// A file as it was listed. See `FileColumns` for the units.
package struct ListedFile: Sendable {
  package let path: ArraySlice<UInt8>
  package let size: Int64
  package let modified: Int64
  package let identity: UInt64
}
