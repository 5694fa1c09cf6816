import ArgumentParser
import FerryManifest

/// Conditions of the machine that override the manifest's `conditions` and the detected conditions.
struct ConditionOptions: ParsableArguments {
  @Option(help: "Kind of network. Overrides the manifest's 'conditions'.")
  var network: Conditions.Network?

  @Option(help: "Power source. Overrides the manifest's 'conditions'.")
  var power: Conditions.Power?
}

extension Conditions.Network: ExpressibleByArgument {}
extension Conditions.Power: ExpressibleByArgument {}
