import Foundation

/// Debian's Slurm and MUNGE on the loopback interface, with two nodes. Only root can start them.
///
/// The daemons are stopped when the last reference to the cluster is released.
final class SlurmCluster: Sendable {
  static let isPossible: Bool = {
    let programs = ["sbatch", "slurmctld", "slurmd", "munged"]
    let missing = programs.filter { RunningCommand.find($0) == nil }
    if missing.isEmpty, geteuid() == 0 { return true }
    let reason = missing.isEmpty ? "root" : "slurm-wlm and munge"
    FileHandle.standardError.write(
      Data("\n!!!! SKIPPED: the tests of shards on Slurm need \(reason)\n\n".utf8))
    return false
  }()

  private let folder: TemporaryFolder

  private init(_ folder: TemporaryFolder) { self.folder = folder }

  deinit {
    for name in ["slurmd-n1", "slurmd-n2", "slurmctld", "munged"] {
      let text = folder.text("\(name).pid").trimmingCharacters(in: .whitespacesAndNewlines)
      if let pid = Int32(text), pid > 1 { kill(pid, SIGTERM) }
    }
  }

  /// The variables with which Slurm's commands find the cluster.
  var environment: [String: String] { ["SLURM_CONF": folder.path("slurm.conf")] }

  /// Starts a cluster. Because another program may take one of its ports first, a failed start is repeated with other
  /// ports.
  static func start() async throws -> SlurmCluster {
    var failure: (any Error)?
    for _ in 0..<3 {
      do { return try await startOnce() } catch { failure = error }
    }
    throw failure ?? CommandFailure(description: "Slurm did not start")
  }

  private static func startOnce() async throws -> SlurmCluster {
    let folder = try TemporaryFolder()
    let cluster = SlurmCluster(folder)
    for name in ["state", "munge"] { _ = try folder.makeFolder(name) }
    let script = """
      set -eu
      cd "$1"
      chmod 755 . && chmod 700 munge
      host=$(hostname -s)
      # Below the ports that the kernel chooses: a connection of another test, even a closed one, can hold one of those.
      read -r first _ < /proc/sys/net/ipv4/ip_local_port_range
      [ "$first" -gt 11000 ] || first=32768
      port=$((10000 + RANDOM % (first - 10010)))
      cat > slurm.conf <<END
      ClusterName=ferry
      SlurmctldHost=$host(127.0.0.1)
      SlurmctldPort=$port
      SlurmUser=root
      SlurmdUser=root
      AuthType=auth/munge
      AuthInfo=socket=$1/munge/socket,cred_expire=5
      ProctrackType=proctrack/linuxproc
      TaskPlugin=task/none
      AccountingStorageType=accounting_storage/none
      SelectType=select/cons_tres
      SelectTypeParameters=CR_Core
      ReturnToService=2
      SlurmdTimeout=30
      MpiDefault=none
      StateSaveLocation=$1/state
      SlurmdSpoolDir=$1/spool-%n
      SlurmctldPidFile=$1/slurmctld.pid
      SlurmdPidFile=$1/slurmd-%n.pid
      SlurmctldLogFile=$1/slurmctld.log
      SlurmdLogFile=$1/slurmd-%n.log
      SchedulerParameters=sched_interval=1,bf_interval=1
      NodeName=n1 NodeHostname=$host NodeAddr=127.0.0.1 Port=$((port + 1)) CPUs=2
      NodeName=n2 NodeHostname=$host NodeAddr=127.0.0.1 Port=$((port + 2)) CPUs=2
      PartitionName=main Nodes=n1,n2 Default=YES MaxTime=INFINITE State=UP
      END
      head -c 1024 /dev/urandom > munge/key
      chmod 400 munge/key
      # Foundation considers a process running as long as a descriptor that it has passed to the process is open, so the daemons close it.
      daemon() {
        (
          for fd in $(ls "/proc/$BASHPID/fd"); do [ "$fd" -le 2 ] || eval "exec $fd>&-"; done
          exec "$@"
        )
      }
      daemon munged --force --socket="$1/munge/socket" --key-file="$1/munge/key" --log-file="$1/munge/log" \\
        --pid-file="$1/munged.pid" --seed-file="$1/munge/seed"
      daemon slurmctld -i
      daemon slurmd -N n1
      daemon slurmd -N n2
      for i in $(seq 300); do
        [ "$(sinfo -h -N -t idle 2> sinfo.log | wc -l)" = 2 ] && exit
        # slurmctld exits if another program has its port.
        if [ -s slurmctld.pid ] && ! kill -0 "$(cat slurmctld.pid)" 2> /dev/null; then break; fi
        sleep 0.2
      done
      cat sinfo.log slurmctld.log >&2 || :
      exit 1
      """
    let path = (ProcessInfo.processInfo.environment["PATH"] ?? "") + ":/usr/sbin"
    let command = try await Command.run(
      "bash", ["-c", script, "bash", folder.url.path],
      environment: cluster.environment.merging(["PATH": path]) { $1 })
    guard command.status == 0 else {
      throw CommandFailure(description: "Slurm did not start\n\(command.stdout)\n\(command.stderr)")
    }
    return cluster
  }

  /// Waits until the state of the cluster meets a condition. Slurm has no command that waits for it.
  func wait(
    for what: String, within limit: Duration, _ condition: () async throws -> Bool
  ) async throws {
    let deadline = ContinuousClock.now + limit
    while try await !condition() {
      guard ContinuousClock.now < deadline else {
        let queue = try await Command.run("squeue", ["-r"], environment: environment)
        throw CommandFailure(description: "no \(what)\n\(queue.stdout)\(queue.stderr)")
      }
      try await Task.sleep(for: .milliseconds(300))
    }
  }

  /// Waits until no job is queued or running.
  func finish(within limit: Duration) async throws {
    let deadline = ContinuousClock.now + limit
    while true {
      let queue = try await Command.run("squeue", ["-h", "-o", "%i %T %r"], environment: environment)
      if queue.status == 0, queue.stdout.isEmpty { return }
      guard ContinuousClock.now < deadline else {
        throw CommandFailure(description: "jobs remain\n\(queue.stdout)\(queue.stderr)")
      }
      try await Task.sleep(for: .milliseconds(300))
    }
  }
}
