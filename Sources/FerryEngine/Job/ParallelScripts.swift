import FerryJournal
import FerryPlan

/// The scripts that run shards with GNU parallel.
struct ParallelScripts {
  let commands: ShardCommands
  /// Additional arguments for parallel.
  let options: [String]

  var files: [ScriptFolder.File] { [run, shard] }

  private var run: ScriptFolder.File {
    let words = (["--joblog", "joblog", "--resume-failed"] + options).map(ShellWord.quoted)
    return ScriptFolder.File(
      "run.sh",
      text: """
        #!/bin/bash
        # Runs the work before the shards, the shards, and the work after them. Run it again to repeat what failed.
        CDPATH= cd -- "$(dirname -- "$0")" || exit
        command -v parallel >/dev/null || { echo "run.sh: GNU parallel was not found in PATH" >&2; exit 2; }
        \(commands.run("setup/\(commands.count)")) || exit
        # parallel replaces words in braces, and passes the words to another shell. Neither must interpret the name of the
        # folder.
        path=$PWD/shard.sh quote="'\\\\''" brace="'\\\\{'"
        path=${path//\\'/$quote}
        path=${path//\\{/$brace}
        seq \(commands.count) | parallel \(words.joined(separator: " ")) "'$path'" {}

        """ + commands.finish)
  }

  private var shard: ScriptFolder.File {
    ScriptFolder.File(
      "shard.sh",
      text: """
        #!/bin/bash
        # Runs the shard $1, up to five times. If its work has to wait for a time, it is run again at that time.
        attempt=1
        while :; do
          \(commands.run("\"$1/\(commands.count)\""))
          code=$?
          case $code in
            \(ShardCommands.cases(.temporary, .sessionInUse, .cutOff)))
              [ "$attempt" -lt 5 ] || break
              sleep "$attempt"
              attempt=$((attempt + 1)) ;;
            \(ShardCommands.cases(.deferred)))
              next=$(\(commands.next("\"$1-of-\(commands.count)\"")))
              case $next in [0-9]*) ;; *) break ;; esac
              seconds=$(($(date -d "$next" +%s) - $(date +%s)))
              sleep $((seconds > 1 ? seconds : 1)) ;;
            *) break ;;
          esac
        done
        exit "$code"

        """)
  }
}
