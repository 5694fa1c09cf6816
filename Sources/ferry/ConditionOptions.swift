import ArgumentParser
import FerryManifest

/// What is known of the machine, before ferry finds it out by itself.
struct ConditionOptions: ParsableArguments {
  @Option(help: "The kind of network, over the manifest's 'conditions'.")
  var network: Conditions.Network?

  @Option(help: "Where power comes from, over the manifest's 'conditions'.")
  var power: Conditions.Power?
}

extension Conditions.Network: ExpressibleByArgument {}
extension Conditions.Power: ExpressibleByArgument {}
