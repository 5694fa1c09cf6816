import FerryPlan

/// The value of `--shard`.
package enum ShardArgument {
  private static let forms = "K/N, setup/N, finish/N, auto or auto/N"

  /// Reads the value.
  ///
  /// With `auto`, the number comes from the environment of a task: `SLURM_ARRAY_TASK_ID` (in an array that begins with
  /// 0 or 1) or `JOB_COMPLETION_INDEX` (from 0). The number of shards is the N of `auto/N` or, for `auto` alone, the
  /// value of `SLURM_ARRAY_TASK_COUNT`.
  package static func part(
    _ text: String, environment: [String: String]
  ) throws(UsageError) -> ShardPart {
    let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    if parts[0] == "auto" {
      return .items(try auto(parts.count == 2 ? try count(parts[1], text) : nil, environment))
    }
    guard parts.count == 2 else { throw unreadable(text) }
    let count = try count(parts[1], text)
    switch parts[0] {
    case "setup": return .setup(count: count)
    case "finish": return .finish(count: count)
    default:
      guard let number = number(parts[0]) else { throw unreadable(text) }
      guard let shard = Shard(number, of: count) else {
        throw UsageError("--shard \(DisplayPath.shown(text)): K must be between 1 and \(count)")
      }
      return .items(shard)
    }
  }

  private static func unreadable(_ text: String) -> UsageError {
    UsageError("--shard \(DisplayPath.shown(text)): write \(forms); for example, 3/100")
  }

  private static func count(_ digits: String, _ text: String) throws(UsageError) -> Int {
    guard let count = number(digits), (1...Shard.most).contains(count) else {
      throw UsageError(
        "--shard \(DisplayPath.shown(text)): write \(forms), where N is the number of shards, 1 to \(Shard.most)"
      )
    }
    return count
  }

  /// A number of at most six digits without a sign.
  private static func number(_ digits: String) -> Int? {
    guard (1...6).contains(digits.utf8.count), digits.utf8.allSatisfy({ (0x30...0x39).contains($0) })
    else { return nil }
    return Int(digits)
  }

  private static func auto(_ count: Int?, _ environment: [String: String]) throws(UsageError) -> Shard {
    func value(_ name: String) throws(UsageError) -> Int? {
      guard let text = environment[name], !text.isEmpty else { return nil }
      guard let number = number(text) else {
        throw UsageError(
          "--shard auto: \(name) is '\(DisplayPath.shown(text))', which is not the number of a shard")
      }
      return number
    }
    if let task = try value("SLURM_ARRAY_TASK_ID") {
      let (first, last) = (try value("SLURM_ARRAY_TASK_MIN"), try value("SLURM_ARRAY_TASK_MAX"))
      let tasks = try value("SLURM_ARRAY_TASK_COUNT")
      if let count {
        // If only some tasks of an array were resubmitted, the first of them can have any number. Shards are counted
        // from 1.
        return try shard(task, of: count, "SLURM_ARRAY_TASK_ID")
      }
      guard let first, let last, let tasks, first <= 1, last - first + 1 == tasks else {
        throw UsageError(
          "--shard auto: the job array does not have the tasks 1 to N or 0 to N-1, so its number of tasks is not the "
            + "number of shards\nhelp: write --shard auto/N, and submit the array with --array=1-N")
      }
      return try shard(task - first + 1, of: tasks, "SLURM_ARRAY_TASK_ID")
    }
    if let index = try value("JOB_COMPLETION_INDEX") {
      guard let count else {
        throw UsageError(
          "--shard auto: JOB_COMPLETION_INDEX is set, but Kubernetes does not state the number of completions\n"
            + "help: write --shard auto/N, where N is the job's 'completions'")
      }
      return try shard(index + 1, of: count, "JOB_COMPLETION_INDEX")
    }
    throw UsageError(
      "--shard auto: neither SLURM_ARRAY_TASK_ID nor JOB_COMPLETION_INDEX is set\nhelp: write --shard K/N")
  }

  private static func shard(_ number: Int, of count: Int, _ name: String) throws(UsageError) -> Shard {
    guard let shard = Shard(number, of: count) else {
      throw UsageError(
        "--shard auto: according to \(name), this is shard \(number), which is not one of the shards 1 to \(count)"
      )
    }
    return shard
  }
}
