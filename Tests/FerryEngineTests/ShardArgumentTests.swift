import FerryPlan
import Testing

@testable import FerryEngine

/// The value of `--shard`.
@Suite struct `A shard on the command line` {
  private func part(_ text: String, _ environment: [String: String] = [:]) throws -> String {
    try ShardArgument.part(text, environment: environment).description
  }

  private func array(_ task: Int, _ first: Int, _ last: Int, count: Int) -> [String: String] {
    [
      "SLURM_ARRAY_TASK_ID": "\(task)", "SLURM_ARRAY_TASK_MIN": "\(first)",
      "SLURM_ARRAY_TASK_MAX": "\(last)", "SLURM_ARRAY_TASK_COUNT": "\(count)",
    ]
  }

  @Test(arguments: ["3/100", "1/1", "setup/4", "finish/100000"])
  func `is a part and the number of shards`(_ text: String) throws {
    #expect(try part(text) == text)
    // The environment has no effect unless the user asks for it.
    #expect(try part(text, array(2, 1, 3, count: 3)) == text)
  }

  @Test(arguments: [
    "", "3", "0/3", "4/3", "-1/3", "+1/3", "1/0", "1/100001", "setup", "setup/", "finish/x", "1/2/3",
    "auto/0",
    "1 /3",
  ])
  func `is rejected in any other form`(_ text: String) {
    #expect(throws: UsageError.self) { _ = try part(text) }
  }

  @Test func `comes from a Slurm array if the user asks for it`() throws {
    #expect(try part("auto", array(3, 1, 100, count: 100)) == "3/100")
    #expect(try part("auto", array(3, 0, 99, count: 100)) == "4/100")
    #expect(try part("auto/100", array(3, 3, 3, count: 1)) == "3/100")
  }

  @Test func `is not taken from an array of only some tasks`() {
    #expect(throws: UsageError.self) { _ = try part("auto", array(3, 3, 7, count: 2)) }
    #expect(throws: UsageError.self) { _ = try part("auto", array(7, 1, 7, count: 2)) }
    #expect(throws: UsageError.self) { _ = try part("auto", ["SLURM_ARRAY_TASK_ID": "3"]) }
    #expect(throws: UsageError.self) { _ = try part("auto/2", array(3, 3, 3, count: 1)) }
  }

  @Test func `comes from the index of a Kubernetes job, which begins with 0`() throws {
    #expect(try part("auto/10", ["JOB_COMPLETION_INDEX": "0"]) == "1/10")
    #expect(try part("auto/10", ["JOB_COMPLETION_INDEX": "9"]) == "10/10")
    #expect(throws: UsageError.self) { _ = try part("auto", ["JOB_COMPLETION_INDEX": "0"]) }
    #expect(throws: UsageError.self) { _ = try part("auto/10", ["JOB_COMPLETION_INDEX": "10"]) }
    #expect(throws: UsageError.self) { _ = try part("auto/10") }
    #expect(throws: UsageError.self) { _ = try part("auto/10", ["JOB_COMPLETION_INDEX": "-1"]) }
  }
}
