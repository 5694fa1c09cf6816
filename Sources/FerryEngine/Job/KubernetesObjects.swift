import FerryDigest
import FerryManifest
import FerryPlan

/// The objects that run shards as an Indexed Job of Kubernetes, with the jobs before and after it.
struct KubernetesObjects {
  /// The maximum number of restarts of a part. The delay between restarts grows to six minutes, so this many restarts
  /// take about a day.
  private static let restarts = 240
  /// The time in seconds that a pod has after SIGTERM. ferry needs a few seconds to save its state.
  private static let gracePeriod = 120

  let commands: ShardCommands
  let settings: KubernetesSettings

  var files: [ScriptFolder.File] {
    [
      ScriptFolder.File("submit.sh", text: submit),
      ScriptFolder.File("storage.yaml", .document, text: storage),
      ScriptFolder.File("setup.yaml", .document, text: job("-setup", .setup)),
      ScriptFolder.File("shards.yaml", .document, text: job("", .shards)),
      ScriptFolder.File("finish.yaml", .document, text: job("-finish", .finish)),
    ]
  }

  private enum Part {
    case setup
    case shards
    case finish
  }

  /// The common part of the names of all objects: the manifest's name in the letters that Kubernetes accepts. If the
  /// manifest's name had to be changed, a part of the name's digest is appended, so that the objects of two manifests
  /// do not conflict.
  private var name: String {
    let lowercase = commands.name.utf8.map { byte -> UInt8 in
      switch byte {
      case 0x30...0x39, 0x61...0x7A: byte
      case 0x41...0x5A: byte + 0x20
      default: 0x2D
      }
    }
    let letters = String(decoding: lowercase.prefix(30), as: UTF8.self)
    guard letters != commands.name || letters.last == "-" else { return "ferry-\(letters)" }
    let digest = Hexadecimal.text(SHA256.hash(Array(commands.name.utf8))).prefix(8)
    return "ferry-\(letters.last == "-" ? String(letters.dropLast()) : letters)-\(digest)"
  }

  // MARK: The script

  private var submit: String {
    #"""
    #!/bin/bash
    # Creates the objects, and waits for one job after another. If it is started again, it continues with the jobs that
    # exist. Arguments, such as --namespace=NAME, are passed to kubectl.
    CDPATH= cd -- "$(dirname -- "$0")" || exit
    command -v kubectl >/dev/null || { echo "submit.sh: kubectl was not found in PATH" >&2; exit 2; }
    kubectl=(kubectl "$@")

    # Waits until a job has ended. Fails if the job has failed. Ends the script if the job has been deleted.
    await() {
      while :; do
        found=$("${kubectl[@]}" get job "$1" --ignore-not-found \
          -o 'jsonpath=job {.status.conditions[?(@.status=="True")].type}') || { sleep 10; continue; }
        case " $found " in
          *" Complete "*) return 0 ;;
          *" Failed "*) return 1 ;;
          " job "*) ;;
          *) echo "submit.sh: job $1 was deleted; to create it again and continue, start submit.sh again" >&2; exit 5 ;;
        esac
        waits=()
        for end in condition=Complete condition=Failed delete; do
          "${kubectl[@]}" wait "--for=$end" --timeout=1h "job/$1" >/dev/null 2>&1 &
          waits+=($!)
        done
        wait -n "${waits[@]}" || sleep 1
        kill "${waits[@]}" 2>/dev/null
        wait
      done
    }

    "${kubectl[@]}" apply -f storage.yaml -f setup.yaml || exit

    """#
      + """
      await \(name)-setup || {
        "${kubectl[@]}" logs job/\(name)-setup
        echo "submit.sh: job \(name)-setup has failed" >&2
        exit 5
      }
      "${kubectl[@]}" apply -f shards.yaml || exit
      await \(name) || echo "submit.sh: some shards have failed" >&2
      "${kubectl[@]}" apply -f finish.yaml || exit
      await \(name)-finish
      code=$?
      "${kubectl[@]}" logs job/\(name)-finish
      [ "$code" -eq 0 ] || exit 5

      """
  }

  // MARK: Storage

  private var storage: String {
    var text = """
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: \(name)
      data:

      """
    for (index, source) in settings.sources.enumerated() {
      text += "  source-\(index): \(YAMLString.quoted(source.text))\n"
    }
    text += """
      ---
      apiVersion: v1
      kind: PersistentVolumeClaim
      metadata:
        name: \(name)
      spec:
        accessModes: [ReadWriteMany]

      """
    if let storageClass = settings.storage.storageClass {
      text += "  storageClassName: \(YAMLString.quoted(storageClass))\n"
    }
    return text + """
        resources:
          requests:
            storage: "\(settings.storage.size)"

      """
  }

  // MARK: Jobs

  private func job(_ suffix: String, _ part: Part) -> String {
    """
    apiVersion: batch/v1
    kind: Job
    metadata:
      name: \(name)\(suffix)
    spec:

    """ + spec(part) + """
        template:
          spec:
            restartPolicy: Never
            automountServiceAccountToken: false
            terminationGracePeriodSeconds: \(Self.gracePeriod)
            securityContext:
              runAsNonRoot: true
              fsGroup: 65532
              fsGroupChangePolicy: OnRootMismatch
              seccompProfile:
                type: RuntimeDefault
            containers:
              - name: ferry
                image: \(YAMLString.quoted(settings.image))
                command: \(YAMLString.list(command(part).map(Self.literal)))
                securityContext:
                  allowPrivilegeEscalation: false
                  capabilities:
                    drop: [ALL]

      """ + environment + resources + mounts
  }

  /// The rules for restarts of a part. The eviction of a pod does not count as a restart. The exit codes after
  /// which a restart cannot succeed end the part; after the other exit codes, such as 5, 8 and 10, Kubernetes
  /// starts another pod after a delay.
  private func spec(_ part: Part) -> String {
    let evictions = """
        podFailurePolicy:
          rules:
            - action: Ignore
              onPodConditions:
                - type: DisruptionTarget
                  status: "True"

      """
    switch part {
    case .setup:
      return "  backoffLimit: \(Self.restarts)\n" + evictions + permanentFailure(action: "FailJob")
    case .shards:
      let count = commands.count
      return """
          completionMode: Indexed
          completions: \(count)
          parallelism: \(count)
          backoffLimitPerIndex: \(Self.restarts)

        """ + evictions + permanentFailure(action: "FailIndex")
    case .finish:
      // Each restart would send the requests of `on_end` again.
      return "  backoffLimit: 0\n" + evictions
    }
  }

  /// The rule for the exit codes after which a restart cannot succeed.
  private func permanentFailure(action: String) -> String {
    let codes: [ExitCode] = [.itemsFailed, .usage, .invalidManifest, .integrity, .authorization]
    return """
            - action: \(action)
              onExitCodes:
                containerName: ferry
                operator: In
                values: [\(codes.map { "\($0.rawValue)" }.joined(separator: ", "))]

      """
  }

  /// Escapes a word so that Kubernetes does not change it. Kubernetes replaces `$(NAME)` with an environment variable,
  /// and `$$` with `$`.
  private static func literal(_ word: String) -> String {
    word.unicodeScalars.reduce(into: "") { text, scalar in
      text += scalar == "$" ? "$$" : String(scalar)
    }
  }

  private func command(_ part: Part) -> [String] {
    switch part {
    case .setup: commands.run + ["--shard", "setup/\(commands.count)"]
    case .shards: commands.run + ["--shard", "auto/\(commands.count)"]
    case .finish: ["/bin/sh", "-c", commands.finish]
    }
  }

  private var environment: String {
    guard let secret = settings.secret else { return "" }
    return """
                envFrom:
                  - secretRef:
                      name: \(YAMLString.quoted(secret))

      """
  }

  private var resources: String {
    let (cpu, memory) = (settings.resources.cpu, settings.resources.memory)
    guard cpu != nil || memory != nil else { return "" }
    var text = "          resources:\n            requests:\n"
    if let cpu { text += "              cpu: \(YAMLString.quoted(cpu))\n" }
    guard let memory else { return text }
    return text + """
                    memory: "\(memory)"
                  limits:
                    memory: "\(memory)"

      """
  }

  private var mounts: String {
    var mounts = "          volumeMounts:\n"
    for (index, source) in settings.sources.enumerated() {
      mounts += """
                    - name: manifest
                      mountPath: \(YAMLString.quoted(source.path))
                      subPath: source-\(index)
                      readOnly: true

        """
    }
    mounts += """
                  - name: state
                    mountPath: \(YAMLString.quoted(settings.stateVolume))

      """
    var volumes = """
            volumes:
              - name: manifest
                configMap:
                  name: \(name)
              - name: state
                persistentVolumeClaim:
                  claimName: \(name)

      """
    if let files = settings.storage.files, let folder = settings.filesFolder {
      mounts += """
                    - name: files
                      mountPath: \(YAMLString.quoted(folder))
                      readOnly: \(!settings.changesFiles)

        """
      volumes += """
                - name: files
                  persistentVolumeClaim:
                    claimName: \(YAMLString.quoted(files.claim))

        """
    }
    return mounts + volumes
  }
}
