import Foundation
import Testing

/// Shards whose state is on a network file system: a User Mode Linux kernel serves and mounts it.
///
/// Such a kernel is slow: the test takes minutes on a busy machine. Therefore, it runs only if `FERRY_SOAK_NFS=1` is set,
/// as in `scripts/soak`.
@Suite struct `Shards on NFS` {
  /// The programs that the kernel and its NFS server need.
  private static let isPossible: Bool = {
    let programs = [
      "linux.uml", "rpc.nfsd", "rpc.mountd", "nfsdcld", "exportfs", "mount.nfs", "modprobe", "unshare",
    ]
    let missing = programs.filter { RunningCommand.find($0) == nil }
    guard missing.isEmpty, getuid() == 0 else {
      let reason = missing.isEmpty ? "root" : missing.joined(separator: ", ")
      FileHandle.standardError.write(
        Data("\n!!!! SKIPPED: the test of shards on NFS needs \(reason); run scripts/setup soak\n\n".utf8))
      return false
    }
    return true
  }()

  private static let isSoak = ProcessInfo.processInfo.environment["FERRY_SOAK_NFS"] == "1"

  @Test(.enabled(if: isSoak && isPossible), .timeLimit(.minutes(10)))
  func `are taken over from a machine that was killed or stopped, and commit each file once`() async throws {
    let folder = try TemporaryFolder()
    let machine = try RunningCommand(
      "linux.uml",
      [
        // The default is a folder in the home directory.
        "uml_dir=" + folder.url.path(percentEncoded: false),
        "mem=512M", "root=none", "rootfstype=hostfs", "rootflags=/", "ro", "quiet", "con=null",
        "con0=null,fd:1",
        "init=" + Product.source("Tests/EndToEndTests/NFS/machine.sh"),
        "ferry.run=" + Product.source("Tests/EndToEndTests/NFS/shards.py"),
        "ferry.arguments=" + [Product.path("ferry"), Product.path("ferry-receiver")].joined(separator: ","),
      ])
    let command = try await machine.end(within: .seconds(580))
    print(command.stdout)
    #expect(command.stdout.contains("\nexit 0"), "\(command.stdout) \(command.stderr)")
  }
}
