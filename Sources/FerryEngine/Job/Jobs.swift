import FerryJournal
import FerryManifest
import FerryPlan

/// The jobs of one launch: one manifest, or several combined in one plan.
package struct Jobs: Sendable {
  /// The jobs, in the order of `ManifestID`.
  package let all: [Job]
  package let plan: Plan
  /// The index of the first node in the plan, by manifest.
  package let firstNodes: [Int]

  package init(_ job: Job) {
    all = [job]
    plan = job.plan
    firstNodes = [0]
  }

  /// - Parameter jobs: at least one.
  /// - Throws: `UsageError` if two jobs have the same name or both read standard input; `EngineFault` if values that
  ///   the jobs must share differ.
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

  /// The job of a node.
  func job(of node: NodeID) -> Job { self[plan.manifest(of: node)] }

  /// The node in the plan of its job.
  func own(_ node: NodeID) -> Node { self[plan.manifest(of: node)].plan.nodes[ownIndex(node)] }

  /// The node's index in the plan of its job.
  func ownIndex(_ node: NodeID) -> Int { node.index - firstNodes[plan.manifest(of: node).index] }

  /// The first job that contains the session.
  func job(of session: SessionID) -> Job? {
    let identifier = plan.sessions[session.index].identifier
    return all.first { $0.has(session: identifier) }
  }

  /// The jobs that do not use the session's journal; `nil` if there are none.
  package func without(session identifier: String) throws -> Jobs? {
    let rest = all.filter { job in
      !job.plan.itemSessions.contains { job.plan.sessions[$0.index].identifier == identifier }
    }
    return rest.isEmpty ? nil : try Jobs(rest)
  }

  /// Divides the jobs into groups, each of which a single launch can run. Each job joins the first group whose shared
  /// values are compatible.
  package static func groups(_ jobs: [Job]) -> [Jobs] {
    var groups: [Jobs] = []
    for job in jobs {
      // A job that conflicts with a group is tried with the next group.
      let group = groups.indices.first { (try? Jobs(groups[$0].all + [job])) != nil }
      if let group, let joined = try? Jobs(groups[group].all + [job]) {
        groups[group] = joined
      } else {
        groups.append(Jobs(job))
      }
    }
    return groups
  }

  /// The listers of the uploads' files, by node of the plan.
  ///
  /// - Parameters:
  ///   - state: the state folder of the command. The files of the whole state folder are not listed.
  ///   - files: the files that the command line names.
  func listers(
    environment: [String: String], state: StateDirectory, files: [String] = []
  ) throws -> [Int: FileLister] {
    var listers: [Int: FileLister] = [:]
    let paths = try RunPaths(all, environment: environment, state: state, files: files)
    for manifest in manifests {
      let own = try all[manifest].listers(environment: environment, state: state, paths: paths)
      for (node, lister) in own {
        listers[firstNodes[manifest] + node] = lister
      }
    }
    return listers
  }

  /// The sources that were read.
  package var sources: [SourceText] { all.flatMap(\.sources) }
}

extension Job {
  package func has(session identifier: String) -> Bool {
    plan.sessions.contains { $0.identifier == identifier }
  }
}
