import FerryJournal
import FerryPlan
import Foundation

/// A state folder for one test, removed when this object is released.
final class TemporaryState: Sendable {
  let directory: StateDirectory

  init() throws {
    let path = NSTemporaryDirectory() + "/ferry-journal-\(UUID().uuidString)"
    directory = try StateDirectory(explicit: path, environment: [:])
  }

  deinit { try? FileManager.default.removeItem(atPath: directory.path) }

  func open(_ session: String = "s", at now: Instant = .start) throws -> SessionJournal {
    try SessionJournal.open(session: session, in: directory, known: [], writtenBy: "0.0-test", at: now)
  }

  func database(_ session: String = "s") throws -> String { try directory.database(ofSession: session) }

  /// The mode and the bytes of everything in the folder, by name.
  func contents() throws -> [String: String] {
    var contents: [String: String] = [:]
    for name in try FileManager.default.subpathsOfDirectory(atPath: directory.path) {
      let path = directory.path + "/" + name
      var status = stat()
      stat(path, &status)
      // A folder has no bytes to compare.
      let data = (try? Data(contentsOf: URL(fileURLWithPath: path))) ?? Data()
      contents[name] = "\(String(status.st_mode, radix: 8)) \(data.base64EncodedString())"
    }
    return contents
  }

  func mode(_ path: String) -> mode_t? {
    var status = stat()
    return stat(path, &status) == 0 ? status.st_mode & 0o777 : nil
  }
}

extension Instant {
  static let start = Instant(nanoseconds: 1_767_225_600_000_000_000)
  static func start(plus seconds: Int64) -> Instant { start.advanced(by: .seconds(seconds)) }
}

extension FileColumns {
  init(_ names: [[UInt8]]) {
    self.init()
    for (index, name) in names.enumerated() {
      paths += name
      ends.append(paths.count)
      sizes.append(Int64(100 + index))
      modified.append(Int64(1000 + index))
    }
  }

  init(count: Int) {
    self.init((0..<count).map { Array("photos/2026/\($0 + 1_000_000).jpg".utf8) })
  }
}
