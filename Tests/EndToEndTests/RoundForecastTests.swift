import Foundation
import Testing

/// The output of `ferry plan --simulate --for` if it covers more than one round.
@Suite struct `A simulation of several rounds` {
  private struct Simulation: Decodable {
    struct Entry: Decodable { var forecast: Forecast }
    struct Forecast: Decodable {
      struct Node: Decodable { var fetches: [Fetch]? }
      struct Fetch: Decodable {
        var result: String
        var intervalSeconds: Double
      }
      var rounds: Int
      var nodes: [Node]
    }
    var forecasts: [Entry]
  }

  @Test func `shows how the interval of a fetch grows, and sends nothing`() async throws {
    let job = try Workspace(
      """
      version: 1
      name: news
      sessions: { s: {} }
      fetches:
        catalog:
          session: s
          interval: { minimum: 1h, maximum: 6h }
          request: { url: "http://127.0.0.1:9/catalog" }
          save_to: catalog.json

      """)
    let words = ["plan", "job.yaml", "--simulate", "--bandwidth", "1MB"]
    let one = try await job.start(words).end()
    #expect(one.stdout.contains("the round is complete after"), "\(one.stdout)\(one.stderr)")
    let text = try await job.start(words + ["--for", "1d"]).end()
    #expect(text.stdout.contains("6 rounds are complete"), "\(text.stdout)\(text.stderr)")
    #expect(text.stdout.contains("fetch catalog: no_data, the interval is 4 h"))
    #expect(text.stdout.contains("fetch catalog: succeeded, 1 new_data, 5 no_data, the interval is 6 h"))
    let json = try await job.start(
      words + ["--for", "1d", "--fetch-changes", "12h", "--fetch-size", "1MB", "--format", "json"]
    ).end().json(Simulation.self)
    let forecast = try #require(json.forecasts.first?.forecast)
    #expect(forecast.rounds == 8)
    #expect(forecast.nodes[0].fetches?.count { $0.result == "new_data" } == 2)
    #expect(forecast.nodes[0].fetches?.map(\.intervalSeconds).max() == 21_600)
    // The list of attempts ends after 10,000.
    try job.write(
      manifest: job.folder.text("job.yaml").replacing(
        "minimum: 1h, maximum: 6h", with: "minimum: 1s, maximum: 1s"))
    let many = try await job.start(words + ["--for", "3h"]).end()
    let requests = try #require(many.stdout.firstMatch(of: #/(\d+) requests/#)?.1, "\(many.stdout)")
    #expect((Int(requests) ?? 0) > 10_001, "\(many.stdout)")
    #expect(many.stdout.contains("1 new_data, \((Int(requests) ?? 0) - 1) no_data"), "\(many.stdout)")
    let wrong = try await job.start(words + ["--fetch-changes", "0s"]).end()
    #expect(wrong.status == 2 && wrong.stderr.contains("--fetch-changes must be longer than 0"))
    #expect(!FileManager.default.fileExists(atPath: job.state))
  }
}
