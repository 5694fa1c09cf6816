import Foundation
import Testing

/// Shards on a cluster of Slurm with network namespaces while nodes, tasks and a network fail.
@Suite struct `Shards on a failing cluster` {
  /// `FERRY_SOAK_SLURM=1` enables the test, which takes several minutes.
  private static let isEnabled =
    ProcessInfo.processInfo.environment["FERRY_SOAK_SLURM"] == "1"
    && SlurmCluster.isPossible

  @Test(.enabled(if: isEnabled)) func `commit each of 4,000 files once`() async throws {
    let folder = try TemporaryFolder()
    // The daemons end with the first process of the PID namespace.
    let script = try RunningCommand(
      "unshare",
      [
        "--net", "--mount", "--pid", "--uts", "--fork", "--kill-child", "--mount-proc", "python3", "-B",
        Product.source("Tests/EndToEndTests/Slurm/faults.py"), Product.path("ferry"),
        Product.path("ferry-receiver"), folder.path("cluster"), "4", "40", "4000", "2",
      ])
    let command = try await script.end(within: .seconds(3600))
    print(command.stdout)
    #expect(command.status == 0, "\(command.stdout) \(command.stderr)")
  }
}
