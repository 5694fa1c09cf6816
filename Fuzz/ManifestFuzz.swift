/// The entry point that libFuzzer calls with each input. `scripts/fuzz` builds and runs it.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  // libFuzzer owns the bytes and keeps them for the duration of this call.
  let violations = ReadingInvariants.violations(by: Array(UnsafeBufferPointer(start: start, count: count)))
  guard violations.isEmpty else { fatalError(violations.prefix(5).joined(separator: "; ")) }
  return 0
}
