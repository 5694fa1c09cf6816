import Foundation

/// The entry point that libFuzzer calls with each input. `FERRY_FUZZ_TARGET` names the reader.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  // libFuzzer owns the bytes and keeps them for the duration of this call.
  let violations = target.violations(by: Array(UnsafeBufferPointer(start: start, count: count)))
  guard violations.isEmpty else { fatalError(violations.prefix(5).joined(separator: "; ")) }
  return 0
}

private let target: FuzzTarget = {
  let name = ProcessInfo.processInfo.environment["FERRY_FUZZ_TARGET"] ?? ""
  guard let target = FuzzTarget(rawValue: name) else { fatalError("there is no fuzz target '\(name)'") }
  return target
}()
