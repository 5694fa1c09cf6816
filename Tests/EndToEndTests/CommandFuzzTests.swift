import Foundation
import Testing

/// Runs ferry with arbitrary arguments: ten minutes for `scripts/fuzz commands`, a few times in the ordinary tests.
///
/// `FERRY_SEED` selects the arguments. A failure reports its seed.
@Suite struct `Arbitrary arguments` {
  private static let environment = ProcessInfo.processInfo.environment
  private static let seed = environment["FERRY_SEED"].flatMap { UInt64($0) } ?? 11
  private static let seconds = environment["FERRY_FUZZ_SECONDS"].flatMap { Int($0) } ?? 0

  @Test func `produce a documented exit code, in time, and output that is safe for a terminal`()
    async throws
  {
    let job = try job()
    let deadline = ContinuousClock.now + .seconds(Self.seconds)
    var runs: UInt64 = 0
    while runs < 60 || ContinuousClock.now < deadline {
      let seed = Self.seed &+ runs
      let arguments = CommandArguments(seed: seed).words
      let run = try job.start(["-k", "1", "20", Product.path("ferry")] + arguments, program: "timeout")
      let end = await run.end()
      // docs/commands/README.md lists these exit codes. 124 would be the time limit, 70 an internal error of ferry, and
      // 128 or more a signal.
      let known: Set<Int32> = [0, 1, 2, 3, 4, 5, 6, 7, 8, 10]
      #expect(
        known.contains(end.status), "seed \(seed): \(arguments)\n\(end.status) \(end.stderr.suffix(2000))")
      let isHostile = (end.stdout + end.stderr).unicodeScalars.contains {
        $0 != "\n" && $0 != "\t" && ($0.value < 0x20 || (0x7F..<0xA0).contains($0.value))
      }
      #expect(!isHostile, "seed \(seed): \(arguments)\n\(end.stdout)\(end.stderr)")
      #expect(end.stderr.utf8.count < 100_000, "seed \(seed): \(arguments)")
      runs += 1
    }
    print("fuzz: commands: \(runs) executions")
  }

  private func job() throws -> Workspace {
    let job = try Workspace(
      """
      version: 1
      name: m
      vars: { a: x, b: "${env.NOT_THERE:-y}" }
      sessions: { s: { kind: background, identifier: e2e.arguments } }
      policies: { resume_delay: { policy: before_start, initial: 60s } }
      uploads:
        u:
          session: s
          retry: { limit: 0 }
          files: { root: files, include: ["*.txt"] }
          transfer: { request: { url: "http://127.0.0.1:9/${vars.a}/${file.name}" } }
      """)
    try job.write("hello", to: "a.txt")
    try job.folder.write(Data("a: z\n".utf8), to: "vars.yaml")
    try job.folder.write(Data("timeline: [{ from: 08:00, network: none }]\n".utf8), to: "timeline.yaml")
    return job
  }
}

/// The arguments of a run, generated from its seed.
private struct CommandArguments {
  private(set) var words: [String] = []
  private var random: SplitMix

  init(seed: UInt64) {
    random = SplitMix(seed: seed)
    let command = pick(Self.commands)
    words = command.words
    for _ in 0..<Int.random(in: 0...4, using: &random) {
      guard let option = command.options.randomElement(using: &random) else { break }
      words.append(option)
      if !Self.flags.contains(option) { words.append(value(of: option)) }
    }
    if Int.random(in: 0..<10, using: &random) == 0 { words.append(text()) }
  }

  private static let looks = ["--at", "--network", "--power", "--launch", "--var", "--vars-file", "--format"]
  private static let waits = [
    "--max-duration", "--wait", "--wait-lock", "--limit", "--only", "--report", "--fresh",
  ]
  private static let forecast = [
    "--simulate", "--bandwidth", "--latency", "--loss", "--launches", "--conditions", "--compare", "--for",
    "--seed",
  ]
  private static let flags: Set<String> = [
    "--simulate", "--fresh", "--all", "--done", "--retry", "--effective",
  ]

  private static let commands: [(words: [String], options: [String])] = [
    (["next", "job.yaml"], looks), (["plan", "job.yaml"], looks + ["--only", "--effective"]),
    (["plan", "job.yaml", "--simulate", "--bandwidth", "1MB", "--for", "30d"], looks + forecast),
    (["check", "job.yaml"], ["--var", "--vars-file", "--format"]),
    (["run", "job.yaml", "--max-duration", "1s"], looks + waits),
    (["resume", "--max-duration", "1s"], waits),
    (["status"], ["--manifest", "--var", "--format", "--launch"]), (["explain"], []),
    (["explain", "--manifest", "job.yaml"], looks),
    (["resolve", "job.yaml"], ["--done", "--retry", "--all", "--session", "--origin"]),
    (["orphans"], ["--forget", "--wait-lock", "--format"]), (["cancel", "job.yaml"], ["--wait-lock"]),
    (["reset"], ["--wait-lock"]), (["journal", "check"], ["--format"]), (["journal", "export"], []),
    (["journal", "prune"], ["--runs", "--delivered", "--older-than"]),
    (["submit", "job.yaml", "u"], ["--wait-lock"]),
    (["report"], ["--format"]), (["schema"], []), ([], []),
  ]

  private mutating func value(of option: String) -> String {
    if Int.random(in: 0..<8, using: &random) == 0 { return text() }
    switch option {
    case "--at": return moment()
    case "--launches":
      return Bool.random(using: &random) ? cron() : (0..<3).map { _ in moment() }.joined(separator: ",")
    case "--bandwidth": return number() + pick(["B", "kB", "MB", "TiB", "", "b", " MB"])
    case "--max-duration", "--wait": return pick(["0s", "1ms", "999ms", "36501d", "-1s", "1", "s"])
    case "--latency", "--wait-lock", "--for", "--runs", "--delivered", "--older-than":
      return pick(["0s", "1ms", "1s", "1d", "30d"]) + pick(["", "", "", "9", "x"])
    case "--loss":
      return pick(["0", "50", "100", "-1", "nan", "inf", "1e400", "0x10", "1e-400", "99.999999999999"])
    case "--limit", "--seed", "--forget": return number()
    case "--var": return pick(["a=", "a=b=c", "=", "a", "a=${vars.a}", "zz=1", "b=\u{1B}[2J", "a=e\u{301}"])
    case "--vars-file": return pick(["vars.yaml", "job.yaml", "nowhere", "files", "/dev/null", ""])
    case "--conditions": return pick(["timeline.yaml", "job.yaml", "nowhere", "files"])
    case "--compare":
      return pick(["none,before_start,after_completion", "none", "", ",", "none,none", "NONE"])
    case "--format": return pick(["text", "json", "cron", "sarif", "xml", ""])
    case "--network": return pick(["auto", "wifi", "wired", "cellular", "none", ""])
    case "--power": return pick(["auto", "external", "battery", "none"])
    case "--launch": return pick(["foreground", "background", "fetch", "event", "continuous", "x"])
    case "--only", "--session", "--manifest", "--origin":
      return pick(["u", "job.yaml", "m", "", "u/a.txt", "http://h:1"])
    case "--report": return pick(["r.json", "-", "/dev/null", "files", "no/such/folder/r.json", ""])
    default: return text()
    }
  }

  private mutating func number() -> String {
    pick([
      "0", "1", "-1", "9223372036854775807", "9223372036854775808", "-9223372036854775808",
      "18446744073709551615",
      "99999999999999999999999999", "1e3", "٣", "", "0x7f",
    ])
  }

  private mutating func moment() -> String {
    let date = pick([
      "2026-03-29", "1677-09-21", "1677-09-22", "2262-04-11", "2262-04-12", "0000-01-01", "9999-12-31",
      "2255-01-01",
      "2026-02-30", "1970-01-01",
    ])
    let time = pick([
      "T00:00", "T23:59:60", "T02:30", "T23:47:16", "T24:00", "t12:00:00.999999999999", " 10:00", "",
    ])
    let zone = pick([
      "", "", "Z", "+02:00", "-23:59", "[Europe/Berlin]", "[Pacific/Apia]", "[]", "[../../etc/passwd]",
      "[UTC+99]", "[",
    ])
    return date + time + zone
  }

  private mutating func cron() -> String {
    let fields = [
      "*", "*/15", "0", "59", "1-5", "5-1", "1,2,3", "*/99999999999999999999", "jan", "sun-sat", "60", "-",
      "/",
    ]
    return (0..<Int.random(in: 4...6, using: &random)).map { _ in pick(fields) }.joined(separator: " ")
  }

  /// Returns text of characters that have a meaning in some syntax. NUL is excluded, because no argument can contain
  /// it.
  private mutating func text() -> String {
    let letters = Array("abu09=/.-_ ,:*?[]{}$@%\\\"'~+\n\t\u{1B}\u{202E}é\u{301}\u{1F600}").map(String.init)
    return (0..<Int.random(in: 0...12, using: &random)).map { _ in pick(letters) }.joined()
  }

  private mutating func pick<Element>(_ elements: [Element]) -> Element {
    elements[Int.random(in: elements.indices, using: &random)]
  }
}
