import Foundation
import Testing

/// The kinds of files from which `ferry check` reads manifests, as a shell passes them.
@Suite struct `A manifest's file` {
  private static let text = "version: 1\nname: m\nvars: { x: { type: string } }\n"

  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
    try folder.write(Data(Self.text.utf8), to: "a.yaml")
    try folder.write(Data("version: 2\nname: m\n".utf8), to: "bad.yaml")
    try folder.write(Data("x: 1\n".utf8), to: "vars.yaml")
  }

  private func shell(_ line: String) async throws -> Command {
    try await Command.run(
      "bash", ["-c", line], environment: ["FERRY": Product.path("ferry")], in: folder.url)
  }

  @Test func `may be the output of a shell command`() async throws {
    let check = try await shell("\"$FERRY\" check --var x=1 <(cat a.yaml)")
    #expect(check.status == 0, "\(check.stderr)")
    #expect(check.stdout.hasPrefix("/dev/fd/"))
  }

  @Test func `may get its variables from a command, and all manifests use them`() async throws {
    let check = try await shell("\"$FERRY\" check --vars-file <(cat vars.yaml) a.yaml ./a.yaml")
    #expect(check.status == 0, "\(check.stdout)\(check.stderr)")
    #expect(check.stdout.contains("\n./a.yaml: ok\n"))
  }

  @Test func `may include a FIFO`() async throws {
    try folder.write(Data("include: [fifo]\nversion: 1\nname: m\n".utf8), to: "m.yaml")
    let check = try await shell(
      "mkfifo fifo; (echo 'sessions: { quick: { mistake: 1 } }' > fifo) & \"$FERRY\" check m.yaml")
    #expect(check.status == 3, "\(check.stderr)")
    #expect(check.stdout.contains("fifo:1:22: error: unknown key 'mistake' [F0201]"))
  }

  @Test func `may be a device of any length`() async throws {
    let null = try await shell("\"$FERRY\" check /dev/null")
    #expect(null.status == 3)
    #expect(null.stdout.contains("[F0104]"))
    let zero = try await shell("\"$FERRY\" check /dev/zero")
    #expect(zero.status == 3)
    #expect(zero.stdout.contains("[F0101]"))
  }

  @Test func `that cannot be read is reported with the reason, and nothing is written to standard output`()
    async throws
  {
    for (path, reason) in [(".", "Is a directory"), ("none.yaml", "No such file or directory")] {
      let check = try await shell("\"$FERRY\" check --format json \(path)")
      #expect(check.status == 2)
      #expect(check.stdout == "")
      #expect(check.stderr == "ferry: \(path): cannot be read: \(reason)\n")
    }
    let variables = try await shell("\"$FERRY\" check --vars-file . a.yaml")
    #expect(variables.status == 2)
    #expect(variables.stderr == "ferry: .: cannot be read: Is a directory\n")
  }

  @Test func `that cannot be read does not prevent other manifests from being checked`() async throws {
    let check = try await shell("\"$FERRY\" check --var x=1 a.yaml none.yaml a.yaml")
    #expect(check.status == 2)
    #expect(check.stdout.components(separatedBy: "a.yaml: ok\n").count == 3)
    #expect(check.stderr == "ferry: none.yaml: cannot be read: No such file or directory\n")
    let both = try await shell("\"$FERRY\" check none.yaml bad.yaml")
    #expect(both.status == 2)
    #expect(both.stdout.contains("bad.yaml:1:10: error: "))
  }

  @Test func `is included once, whatever its names`() async throws {
    try folder.write(Data("sessions: { quick: {} }\n".utf8), to: "only.yaml")
    let check = try await shell(
      """
      ln -s only.yaml link.yaml; ln -s m.yaml self.yaml
      echo "{version: 1, name: m, include: [only.yaml, '$PWD/only.yaml', link.yaml]}" > m.yaml
      echo "{version: 1, name: m, include: [self.yaml]}" > n.yaml; ln -sf n.yaml self.yaml
      "$FERRY" check m.yaml; "$FERRY" check n.yaml
      """)
    #expect(check.stdout.contains("m.yaml: ok\n"), "\(check.stdout)")
    #expect(check.stdout.contains("these files include each other: n.yaml → self.yaml"))
    #expect(!check.stdout.contains("F0603"))
  }

  /// The file is in a world-writable folder. The user's own link to the file makes no difference.
  @Test(
    .enabled("only root may give files away", { geteuid() == 0 }),
    arguments: [
      "check shared/a.yaml", "check link.yaml", "check include.yaml", "check --vars-file link.yaml bad.yaml",
    ])
  func `is not read if it belongs to another user in a shared folder`(_ arguments: String) async throws {
    let shared = try folder.makeFolder("shared").path
    chmod(shared, 0o1777)
    try folder.write(Data(Self.text.utf8), to: "shared/a.yaml")
    chown(shared + "/a.yaml", 65534, 65534)
    try FileManager.default.createSymbolicLink(
      atPath: folder.path("link.yaml"), withDestinationPath: "shared/a.yaml")
    try folder.write(Data("include: [link.yaml]\nversion: 1\nname: m\n".utf8), to: "include.yaml")
    let check = try await shell("\"$FERRY\" \(arguments)")
    #expect([2, 3].contains(check.status), "\(check.stdout)")
    #expect((check.stdout + check.stderr).contains("belongs to user 65534"), "\(check.stdout)\(check.stderr)")
  }
}
