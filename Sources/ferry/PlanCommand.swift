import ArgumentParser
import FerryEngine
import FerryPlan
import FerryReport
import Foundation

/// `ferry plan`: shows what a run would do, without network access and without writing state.
struct PlanCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "plan", abstract: "Show what a run would do, without doing it.")

  @OptionGroup var source: ManifestOptions
  @OptionGroup var state: StateOptions
  @OptionGroup var conditions: ConditionOptions
  @OptionGroup var moment: MomentOptions
  @OptionGroup var simulation: SimulationArguments

  @Option(
    name: .customLong("only"),
    help: "Plan only this node, with the tokens and requests that it uses. May be repeated.")
  var only: [String] = []

  @Option(help: "Output format.")
  var format = PlanOutput.Format.text

  @Flag(help: "Print the manifest with every default written out, and the origin of each value.")
  var effective = false

  @Flag(help: "List the files that the run would send, instead of the plan.")
  var files = false

  @Option(
    help: ArgumentHelp(
      "Show how the files are divided into this number of shards, instead of the plan: text or json.",
      valueName: "n"))
  var shards: Int?

  @Flag(
    help:
      "Exit with 2 if there is something to do, with 0 if there is nothing to do, and with 1 for incorrect usage."
  )
  var detailedExitcode = false

  @Option(
    name: .customLong("out"),
    help: ArgumentHelp("Also write the plan to this file, for ferry run --plan.", valueName: "file"))
  var outputFile: String?

  func validate() throws {
    if let shards {
      guard (1...Shard.most).contains(shards) else {
        throw ValidationError("--shards must be 1 to \(Shard.most)")
      }
      guard format == .text || format == .json else {
        throw ValidationError("--shards prints text or json")
      }
      guard !files, !detailedExitcode, outputFile == nil, !effective, !simulation.simulate, only.isEmpty,
        moment.at == nil
      else {
        throw ValidationError(
          "--shards shows the division of all files; omit --files, --detailed-exitcode, --out, --effective, --simulate, "
            + "--only and --at")
      }
    }
    if files || detailedExitcode || outputFile != nil {
      if effective || simulation.simulate {
        throw ValidationError(
          "--files, --detailed-exitcode and --out apply to a plan, not to --effective or --simulate")
      }
    }
    if outputFile != nil, moment.at != nil {
      throw ValidationError("--out writes a plan for the current time; omit --at")
    }
    if files, format != .text, format != .json { throw ValidationError("--files prints text or json") }
    if format == .mermaid || format == .dot, effective || simulation.simulate {
      throw ValidationError("--format \(format.rawValue) shows a plan, not --effective or --simulate")
    }
    if effective, !only.isEmpty {
      throw ValidationError("--effective shows the whole manifest; omit --only")
    }
    if format == .html, !simulation.simulate { throw ValidationError("--format html requires --simulate") }
    if effective, simulation.simulate {
      throw ValidationError("--effective and --simulate are mutually exclusive")
    }
  }

  func run() throws {
    if effective { return try produceEffective() }
    if let shards { return try produceShards(shards) }
    let (at, zone) = try moment.moment()
    let job = try source.read()
    let preview = try Preview(
      job, state: state.state, only: only, network: conditions.network, power: conditions.power,
      launch: moment.launch ?? (Output.isInteractive ? .foreground : .background), at: at)
    guard simulation.simulate else {
      return try produce(preview, of: job, zone)
    }
    let options = try simulation.options(around: at, zone: zone)
    guard var document = try preview.simulationStart().simulate(options) else {
      throw UsageError(
        "no run of \(job.plan.manifest) has measured the network yet\n"
          + "help: specify the bandwidth; for example, --bandwidth 5MB means 5 MB/s")
    }
    let onEnd = job.manifest.onEnd.map(\.request.name.value)
    document.onEnd = onEnd.isEmpty ? nil : onEnd
    switch format {
    case .text: try Output.produce(SimulationText.text(document, in: options.zone))
    case .json, .mermaid, .dot: try Output.produce(try JSONText.pretty(document))
    case .html:
      let sink = DescriptorSink(STDOUT_FILENO)
      try Output.produce(to: sink) {
        try SimulationHTML(document, plan: try preview.look().document).render(to: sink, in: options.zone)
      }
    }
  }

  private func produce(_ preview: Preview, of job: Job, _ zone: CalendarZone) throws {
    if let outputFile { try preview.save(to: outputFile) }
    let hasWork: Bool
    if files {
      hasWork = try produceFiles(preview)
    } else {
      hasWork = try PlanOutput(format: format, zone: zone).produce(preview, of: job)
    }
    if detailedExitcode, hasWork { throw ArgumentParser.ExitCode(2) }
  }

  /// Lists the files that would be sent, one per line.
  ///
  /// - Returns: whether the run would have something to do.
  private func produceFiles(_ preview: Preview) throws -> Bool {
    let sink = DescriptorSink(STDOUT_FILENO)
    try Output.produce(to: sink) {
      try preview.eachFile { file in
        try sink.write(format == .json ? PlannedFilesText.json(file) : PlannedFilesText.line(file))
      }
    }
    let document = try preview.look().document
    for node in document.nodes where node.listedAtRunTime == true {
      Output.complain(
        "ferry: \(node.name): a fetch writes its list; files that are known only at run time are not listed\n"
      )
    }
    return document.hasWork
  }

  private func produceShards(_ count: Int) throws {
    let document = try ShardPlan.document(
      try source.read(), count: count, state: state.state,
      environment: ProcessInfo.processInfo.environment)
    switch format {
    case .text, .mermaid, .dot, .html: try Output.produce(ShardPlanText.text(document))
    case .json: try Output.produce(try JSONText.pretty(document))
    }
  }

  private func produceEffective() throws {
    guard let manifest = try source.source().told().reading.effective else { return }
    switch format {
    case .text: try Output.produce(manifest.yaml())
    case .json, .mermaid, .dot, .html: try Output.produce(try JSONText.pretty(manifest))
    }
  }
}
