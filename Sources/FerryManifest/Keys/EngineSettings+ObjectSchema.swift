extension EngineSettings {
  static let shape = ObjectSchema<Self>(
    "Engine",
    doc: """
      How an engine runs the shards of the manifest ([Divide a manifest into shards](howto/sharding.md)). \
      `ferry shard` writes the settings of Slurm and Kubernetes into its files; `--engine-option` overrides those \
      of Slurm.
      """,
    keys: [
      Key(
        "budgets", \.budgets, .choice(),
        doc: """
          `split`: each shard has a fixed part of each budget. `shared`: all shards use each budget together; all \
          machines must then use the same state folder.
          """,
        example: "shared"),
      Key("slurm", \.slurm, .object(Slurm.shape), default: .itsKeys, doc: "The resources of Slurm jobs."),
      Key(
        "kubernetes", \.kubernetes, .object(Kubernetes.shape), default: .itsKeys,
        doc: "The resources of Kubernetes pods."),
    ],
    blank: { _, _ in Self() })
}

extension EngineSettings.Slurm {
  static let shape = ObjectSchema<Self>(
    "Slurm", doc: "The resources of the jobs that `ferry shard --engine slurm` writes.",
    keys: [
      Key(
        "partition", \.partition, .partition, default: "Slurm's default",
        doc: "The partition of all jobs, or several partitions separated by commas.", example: "long"),
      Key(
        "time", \.time, .duration(atLeast: .seconds(300)), default: "the limit of the partition",
        doc: """
          The time limit of each shard's task, in whole minutes. Before the limit, ferry saves its state, and the task \
          is requeued.
          """,
        example: "2h"),
      Key(
        "cpus", \.cpus, .integer(1...1_024), default: "Slurm's default",
        doc: "The number of CPUs of each shard's task.", example: "2"),
    ],
    blank: { _, _ in Self() })
}

extension EngineSettings.Kubernetes {
  static let shape = ObjectSchema<Self>(
    "Kubernetes", doc: "The resources of the pods that `ferry shard --engine kubernetes` writes.",
    keys: [
      Key(
        "image", \.image, .image, default: "none; `ferry shard --engine kubernetes` requires one",
        doc: "The container image with ferry.", example: "registry.example.com/ferry:1"),
      Key(
        "secret", \.secret, .kubernetesName, default: "none",
        doc: """
          The name of an existing Secret. Its keys become environment variables of the pods, from which the manifest's \
          `secrets` are read.
          """,
        example: "photos-secrets"),
      Key(
        "resources", \.resources, .object(Resources.shape), default: .itsKeys,
        doc: "The resources of each pod."),
      Key(
        "storage", \.storage, .object(Storage.shape), default: .itsKeys,
        doc: "The volumes of the pods."),
    ],
    blank: { _, _ in Self() })
}

extension EngineSettings.Kubernetes.Resources {
  static let shape = ObjectSchema<Self>(
    "Kubernetes resources", doc: "The resources of each pod.",
    keys: [
      Key(
        "cpu", \.cpu, .cpuQuantity, default: "the namespace's default",
        doc: "The CPUs that a pod requests: a number, or thousandths such as `500m`.", example: "500m"),
      Key(
        "memory", \.memory, .size, default: "the namespace's default",
        doc: "The memory that a pod requests, which is also its limit.", example: "512MiB"),
    ],
    blank: { _, _ in Self() })
}

extension EngineSettings.Kubernetes.Storage {
  static let shape = ObjectSchema<Self>(
    "Kubernetes storage", doc: "The volumes of the pods.",
    keys: [
      Key(
        "size", \.size, .size, doc: "The size of the claim for the state folder.", example: "10GiB"),
      Key(
        "class", \.storageClass, .kubernetesName, default: "the cluster's default",
        doc: """
          The storage class of the claim for the state folder. It must support ReadWriteMany and enforce POSIX locks \
          between nodes, as NFS version 4 does.
          """,
        example: "nfs"),
      Key(
        "files", \.files, .object(EngineSettings.Kubernetes.Files.shape),
        default: "none: the image contains the files",
        doc: "An existing claim with the files of the uploads.",
        example: "{ claim: photos, path: photos }"),
    ],
    blank: { _, _ in Self() })
}

extension EngineSettings.Kubernetes.Files {
  static let shape = ObjectSchema<Self>(
    "Kubernetes files", doc: "An existing claim with the files of the uploads, which the pods mount.",
    keys: [
      Key(
        "claim", \.claim, .kubernetesName, isRequired: true,
        doc: "The name of the PersistentVolumeClaim.", example: "photos"),
      Key(
        "path", \.path, .path, isRequired: true,
        doc: """
          The folder at which the pods mount the claim, relative to the manifest's folder. It must contain each `root`, \
          list and `save_to`, and must not contain the manifest.
          """,
        example: "photos"),
    ],
    blank: { _, _ in Self() })
}

extension ValueKind where Value == String {
  /// Partitions of Slurm. The text becomes part of a line of options, which Slurm splits at spaces and quotes.
  fileprivate static var partition: Self {
    constant("partition").refused { text in
      EngineNameRule.problem(
        text, allowing: [0x2C, 0x2D, 0x2E, 0x5F], help: "use only letters, digits and . _ - ,")
    }
  }

  fileprivate static var image: Self {
    constant("container image").refused { text in
      EngineNameRule.problem(
        text, allowing: [0x2D, 0x2E, 0x2F, 0x3A, 0x40, 0x5F],
        help: "write it as registry/name:tag or registry/name@sha256:…")
    }
  }

  fileprivate static var kubernetesName: Self {
    constant("Kubernetes name").refused(EngineNameRule.kubernetesProblem)
  }

  fileprivate static var cpuQuantity: Self { constant("number of CPUs").refused(EngineNameRule.cpuProblem) }
}
