import FerryPlan
import Foundation

/// The memory through which the processes of a user share `max_bandwidth` on one machine: a mapped file of the state
/// folder that contains two times in nanoseconds since the boot.
///
/// Each boot of each machine and each time namespace has its own file, because their clocks differ. The file needs no
/// recovery: its content is meaningful only for a short time. Only this user can truncate the file, which would
/// terminate the processes that use it (SIGBUS).
///
/// The memory is accessed only with atomic operations, hence `@unchecked Sendable`.
package final class BandwidthFile: @unchecked Sendable {
  private static let prefix = "bandwidth-"
  /// One page. Its disk space is allocated in advance: otherwise, a write to the memory would terminate the
  /// process if the disk were full.
  private static let size = 4096
  /// Files that were not changed for this time are removed. They probably belong to an earlier boot.
  private static let retention: TimeInterval = 30 * 86_400

  private let memory: UnsafeMutableRawPointer
  /// The times for sending and for receiving.
  package let times: UnsafeMutablePointer<Int64>

  package init(in state: StateDirectory) throws(JournalError) {
    let boot = ProcessIdentity.currentBoot.filter { $0.isHexDigit }.prefix(16)
    // The name is `time:[NUMBER]`.
    let number = (LeaseOwner.namespace("time") ?? "").filter { $0.isASCII && $0.isNumber }
    let name = Self.prefix + (boot.isEmpty ? "0" : boot) + (number.isEmpty ? "" : "-" + number)
    let path = state.path + "/" + name
    let descriptor = try StateFile.open(path, O_RDWR | O_CREAT, doing: "open")
    defer { close(descriptor) }
    #if os(Linux)
    let code = posix_fallocate(descriptor, 0, off_t(Self.size))
    #else
    let code = ftruncate(descriptor, off_t(Self.size)) == 0 ? 0 : errno
    #endif
    guard code == 0 else { throw JournalError(errno: code, doing: "allocate", file: path) }
    // Marks the file as used.
    futimens(descriptor, nil)
    let mapped = mmap(nil, Self.size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0)
    guard let mapped, mapped != MAP_FAILED else { throw JournalError(errno: errno, doing: "map", file: path) }
    memory = mapped
    times = mapped.bindMemory(to: Int64.self, capacity: 2)
    Self.removeOld(in: state, except: name)
  }

  deinit { munmap(memory, Self.size) }

  private static func removeOld(in state: StateDirectory, except own: String) {
    // If the folder cannot be read, nothing is removed; the next run tries again.
    let names = (try? FileManager.default.contentsOfDirectory(atPath: state.path)) ?? []
    for name in names where name.hasPrefix(prefix) && name != own {
      let path = state.path + "/" + name
      var status = stat()
      guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { continue }
      if Date(timeIntervalSince1970: TimeInterval(status.st_mtim.tv_sec)).timeIntervalSinceNow < -retention {
        unlink(path)
      }
    }
  }
}
