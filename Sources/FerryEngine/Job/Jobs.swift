import FerryJournal
import FerryManifest
import FerryPlan

/// The jobs of one launch: one manifest, or several under one plan.
package struct Jobs: Sendable {
  /// In the order of `ManifestID`.
  package let all: [Job]
  package let plan: Plan
  /// By manifest: where its nodes begin in the plan.
  package let firstNodes: [Int]

  package init(_ job: Job) {
    all = [job]
    plan = job.plan
    firstNodes = [0]
  }

  /// - Parameter jobs: at least one.
  /// - Throws: `UsageError` where a name stands for two of them, `EngineFault` where they do not agree on what they
  ///   have to share.
  package init(_ jobs: [Job]) throws {
    try JobsAgreement.check(jobs)
    do {
      plan = try Plan(combining: jobs.map(\.plan))
    } catch {
      throw JobsAgreement.fault(error, jobs)
    }
    all = jobs
    var first = 0
    firstNodes = jobs.map { job in
      defer { first += job.plan.nodes.count }
      return first
    }
  }

  package var manifests: Range<Int> { all.indices }

  subscript(manifest: ManifestID) -> Job { all[manifest.index] }

  /// The job that a node is of.
  func job(of node: NodeID) -> Job { self[plan.manifest(of: node)] }

  /// The node in the plan of its own job.
  func own(_ node: NodeID) -> Node { self[plan.manifest(of: node)].plan.nodes[ownIndex(node)] }

  /// Where the node is in the plan of its own job.
  func ownIndex(_ node: NodeID) -> Int { node.index - firstNodes[plan.manifest(of: node).index] }

  /// The first job that has the session.
  func job(of session: SessionID) -> Job? {
    let identifier = plan.sessions[session.index].identifier
    return all.first { $0.has(session: identifier) }
  }

  /// Without those that need the session's journal; `nil` where none is left.
  package func without(session identifier: String) throws -> Jobs? {
    let rest = all.filter { job in
      !Launch.homes(of: job.plan).contains { job.plan.sessions[$0.index].identifier == identifier }
    }
    return rest.isEmpty ? nil : try Jobs(rest)
  }

  /// As few groups as the jobs' order gives, each of which one launch can carry out.
  package static func groups(_ jobs: [Job]) -> [Jobs] {
    var groups: [Jobs] = []
    for job in jobs {
      // What ferry cannot do yet is refused by itself.
      let group = groups.indices.first { index in
        job.notBuilt.isEmpty && groups[index].all.allSatisfy(\.notBuilt.isEmpty)
          && (try? Jobs(groups[index].all + [job])) != nil  // What does not agree goes into another group.
      }
      if let group, let joined = try? Jobs(groups[group].all + [job]) {
        groups[group] = joined
      } else {
        groups.append(Jobs(job))
      }
    }
    return groups
  }

  /// What lists each upload's files, by node of the plan.
  func listers(environment: [String: String]) throws(ListingFailure) -> [Int: FileLister] {
    var listers: [Int: FileLister] = [:]
    for manifest in manifests {
      for (node, lister) in try all[manifest].listers(environment: environment) {
        listers[firstNodes[manifest] + node] = lister
      }
    }
    return listers
  }

  /// The texts that the jobs were read from.
  package var sources: [SourceText] { all.flatMap(\.sources) }
}

extension Job {
  package func has(session identifier: String) -> Bool {
    plan.sessions.contains { $0.identifier == identifier }
  }
}
