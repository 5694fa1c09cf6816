import Foundation
import Testing

/// The names of the rows in the table in docs/servers.md.
@Suite struct `The table of servers` {
  @Test func `has the rows that are tested`() throws {
    let page = try String(contentsOfFile: Product.source("docs/servers.md"), encoding: .utf8)
    let rows = page.split(separator: "\n").filter { $0.hasPrefix("| `") }.map { line in
      let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
      return "\(cells[0].filter { $0 != "`" }) | \(cells[1])"
    }
    #expect(rows == ServerRow.all.map(\.name))
  }
}
