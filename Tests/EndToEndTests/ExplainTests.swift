import Foundation
import Testing

/// How `ferry explain` explains the codes of diagnostics.
@Suite struct `The explained code` {
  private func explain(_ arguments: String...) async throws -> Command {
    try await Command.run(Product.path("ferry"), ["explain"] + arguments)
  }

  @Test func `is shown with a wrong and a right manifest, which ferry check confirms`() async throws {
    struct Explanation: Decodable {
      struct Example: Decodable { var manifest: String }
      var code: String
      var wrong: Example
      var right: Example
    }
    let json = try await explain("f0201", "--format", "json")
    let explanation = try JSONDecoder().decode(Explanation.self, from: Data(json.stdout.utf8))
    #expect(explanation.code == "F0201")
    for (manifest, status) in [(explanation.wrong.manifest, Int32(3)), (explanation.right.manifest, 0)] {
      let workspace = try Workspace(manifest)
      let check = try await workspace.ferry("check", "job.yaml")
      #expect(check.status == status)
      #expect(check.stdout.contains("[F0201]") == (status == 3))
    }
    let text = try await explain("F0201")
    #expect(text.status == 0)
    #expect(text.stdout.hasPrefix("F0201 (error): An unknown key\n"))
    #expect(text.stdout.contains("\nwrong:\n\n  version: 1\n"))
  }

  @Test func `is one of a list if no code is named`() async throws {
    let list = try await explain()
    #expect(list.status == 0)
    #expect(list.stdout.contains("\nF0201  An unknown key\n"))
    struct Row: Decodable { var code: String }
    let json = try await explain("--format", "json")
    let rows = try JSONDecoder().decode([Row].self, from: Data(json.stdout.utf8))
    #expect(rows.count == list.stdout.split(separator: "\n").count)
  }

  @Test func `that does not exist causes a suggestion, or shows the range of codes`() async throws {
    let near = try await explain("F0O01")
    #expect(near.status == 2)
    #expect(near.stdout == "")
    #expect(near.stderr.hasPrefix("ferry: there is no code 'F0O01'\nhelp: did you mean 'F0"))
    let far = try await explain("sessions")
    #expect(far.status == 2)
    #expect(far.stderr.contains("help: codes range from F0101 to F0802"))
  }
}
