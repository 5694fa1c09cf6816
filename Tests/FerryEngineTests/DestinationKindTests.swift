import Foundation
import Testing

@testable import FerryEngine

/// Destinations of reports, logs, events and traces that are refused before the run.
@Suite struct `A destination` {
  private let folder: TestFolder

  init() throws { folder = try TestFolder() }

  @Test func `that two options name differently is refused`() throws {
    let path = folder.path + "/log"
    try Data().write(to: URL(filePath: path))
    try #require(symlink("log", folder.path + "/link") == 0)
    let error = #expect(throws: UsageError.self) {
      try ReportDestination.checkAreDifferent([
        ("--log", path), ("--events", "/dev/null"), ("--trace", folder.path + "/link"),
      ])
    }
    #expect(error?.description.hasPrefix("--log and --trace refer to the same file\n") == true)
    try ReportDestination.checkAreDifferent([
      ("--log", path), ("--events", "/dev/null"), ("--trace", "/dev/null"),
    ])
  }

  @Test func `that is the manifest, or another option's file that does not exist yet, is refused`() throws {
    let (manifest, new) = (folder.path + "/job.yaml", folder.path + "/new")
    try Data().write(to: URL(filePath: manifest))
    let files = [("--log", new), ("--report", folder.path + "/./new")]
    let inputs = [("the manifest", manifest)]
    for (files, inputs, message) in [
      (files, [], "--log and --report refer to the same file\n"),
      ([("--report", manifest)], inputs, "the manifest and --report refer to the same file\n"),
    ] {
      let error = #expect(throws: UsageError.self) {
        try ReportDestination.checkAreDifferent(files, inputs: inputs)
      }
      #expect(error?.description.hasPrefix(message) == true, "\(String(describing: error))")
    }
    try ReportDestination.checkAreDifferent(
      [("--log", new), ("--report", new + "er")], inputs: inputs + inputs)
  }

  @Test func `that is a socket is refused`() throws {
    let path = folder.path + "/socket"
    let number = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(number) }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix($0.count - 1)) }
    let status = withUnsafePointer(to: address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(number, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    try #require(status == 0)
    let check = #expect(throws: UsageError.self) { try ReportDestination(path).check() }
    let open = #expect(throws: UsageError.self) { _ = try ReportDestination(path).open(for: "--events") }
    for error in [check, open] { #expect(error?.description.contains("it is a socket") == true) }
  }
}
