import FerryJournal
import FerryManifest
import FerryPlan
import FerryReport
import Foundation

/// The division of a manifest's files into shards. The files are listed, but no journal is read: the division does not
/// depend on what has been delivered.
package enum ShardPlan {
  /// - Parameter count: the number of shards, from 1 to `Shard.most`.
  /// - Throws: `UsageError` if the manifest cannot be divided; `ListingFailure` if a root or list cannot be read.
  package static func document(
    _ job: Job, count: Int, state: String?, environment: [String: String]
  ) throws -> ShardPlanDocument {
    // Checks that the manifest can be divided.
    _ = try job.divided(.setup(count: count))
    let whole = try StateDirectory(explicit: state, environment: environment)
    let listers = try job.listers(environment: environment, state: whole)
    var shards = (1...count).map { ShardPlanDocument.Entry(number: $0) }
    var unlisted = 0
    for (index, node) in job.plan.nodes.enumerated() {
      guard let lister = listers[index] else { continue }
      let listing = try listing(of: node, lister, in: job)
      unlisted += listing.problems.failures
      add(listing.files, of: node.name, to: &shards)
    }
    let after = try job.plan.nodesAfterUploads()
    let singles = job.plan.nodes.indices.filter { job.plan.nodes[$0].kind.runsOnce }
    let budgets = job.plan.policies.budgets
    let division = job.manifest.engine.budgets
    let (first, once) =
      switch division {
      case .split: (budgets.part(0, of: count + 1), budgets.part(count, of: count + 1))
      case .shared: (budgets, budgets)
      }
    return ShardPlanDocument(
      manifest: job.plan.manifest, path: job.path, shards: shards,
      budgets: Budget.Scope.allCases.compactMap { scope in
        budgets[scope].map {
          .init(
            network: scope, limitBytes: $0.limit, shardBytes: first[scope]?.limit ?? 0,
            onceBytes: once[scope]?.limit ?? 0, division: division)
        }
      },
      before: singles.filter { !after.contains($0) }.map { job.plan.nodes[$0].name },
      after: singles.filter { after.contains($0) }.map { job.plan.nodes[$0].name }, unlisted: unlisted)
  }

  private static func listing(of node: Node, _ lister: FileLister, in job: Job) throws -> Listing {
    do {
      return try lister.list { try StandardInput.bytes { false } }
    } catch var failure as ListingFailure {
      // A list that has to be fetched first may not exist yet.
      let fetches = fetches(before: node, in: job.plan)
      if failure.root == nil, failure.remedy == nil, !fetches.isEmpty {
        // `--shard setup/N` would determine the number of shards.
        let command = ShellWord.line(
          ["ferry", "run", AbsolutePath.text(of: job.path)] + fetches.flatMap { ["--only", $0] }
            + ["--state", "FOLDER"])
        failure.remedy =
          "if a fetch that '\(node.name)' needs writes this list, run the fetch first, in another state folder, so that "
          + "any number of shards can still be chosen: \(command)"
      }
      throw failure
    }
  }

  /// The names of the fetches that a node needs directly or indirectly, in the order of the plan.
  private static func fetches(before node: Node, in plan: Plan) -> [String] {
    var found: Set<Int> = []
    var pending = node.needs.map(\.index)
    while let index = pending.popLast() {
      if found.insert(index).inserted { pending += plan.nodes[index].needs.map(\.index) }
    }
    return found.sorted().filter { plan.nodes[$0].kind == .fetch }.map { plan.nodes[$0].name }
  }

  private static func add(
    _ files: FileColumns, of upload: String, to shards: inout [ShardPlanDocument.Entry]
  ) {
    let hash = ItemHash(upload: upload)
    files.paths.withUnsafeBufferPointer { paths in
      for file in 0..<files.count {
        let path = UnsafeBufferPointer(rebasing: paths[files.pathRange(file)])
        let index = hash.number(of: path, among: shards.count) - 1
        shards[index].items += 1
        shards[index].bytes = shards[index].bytes +| files.sizes[file]
        shards[index].largestBytes = max(shards[index].largestBytes, files.sizes[file])
      }
    }
  }
}
