/// How an engine runs the manifest's shards. `ferry shard` writes the settings of Slurm and Kubernetes into its scripts.
package struct EngineSettings: Hashable, Codable, Sendable {
  /// How the shards divide the budgets.
  package enum BudgetDivision: String, Codable, Sendable, CaseIterable {
    /// Each shard has a fixed part of each limit.
    case split
    /// All shards use one ledger, in a state folder that they share.
    case shared
  }

  package struct Slurm: Hashable, Codable, Sendable {
    package var partition: String?
    /// The time limit of a shard's task, in minutes when it is written for Slurm.
    package var time: Duration?
    /// The CPUs of a shard's task.
    package var cpus: Int?

    package init(partition: String? = nil, time: Duration? = nil, cpus: Int? = nil) {
      self.partition = partition
      self.time = time
      self.cpus = cpus
    }
  }

  package struct Kubernetes: Hashable, Codable, Sendable {
    package var image: String?
    /// The name of a Secret with the environment variables of the manifest's secrets.
    package var secret: String?
    package var resources = Resources()
    package var storage = Storage()

    package init() {}

    package struct Resources: Hashable, Codable, Sendable {
      /// The CPUs that a pod requests, in Kubernetes' notation, such as `500m`.
      package var cpu: String?
      /// The memory that a pod requests, which is also its limit, in bytes.
      package var memory: Int64?

      package init() {}
    }

    package struct Storage: Hashable, Codable, Sendable {
      /// The size of the claim for the state folder, in bytes. Default 1GiB.
      package var size: Int64 = 1 << 30
      /// The storage class of that claim; `nil` for the cluster's default.
      package var storageClass: String?
      package var files: Files?

      package init() {}
    }

    /// An existing claim with the files of the uploads.
    package struct Files: Hashable, Codable, Sendable {
      package var claim: String
      /// The folder at which the pods mount the claim, relative to the manifest's folder.
      package var path: String

      package init(claim: String = "", path: String = "") {
        self.claim = claim
        self.path = path
      }
    }
  }

  package var budgets = BudgetDivision.split
  package var slurm = Slurm()
  package var kubernetes = Kubernetes()

  package init() {}
}
