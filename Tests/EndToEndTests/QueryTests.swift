import Foundation
import Testing

/// `query` of a request, against nginx.
@Suite(.enabled("nginx is needed") { NginxServer.isPossible })
struct `The query of a request` {
  @Test func `arrives encoded, beside the parameters of the URL`() async throws {
    let site = try await NginxSite.start("")
    let job = try Workspace(
      """
      version: 1
      name: query
      secrets: { key: { env: E2E_SECRET } }
      sessions: { s: {} }
      uploads:
        u:
          session: s
          files: { root: files }
          transfer:
            request:
              method: PUT
              url: "http://127.0.0.1:\(site.port)/${file.name}?v=1"
              query: { name: "${file.name}", "a=b": "c&d/e", key: "${secrets.key}" }
      """)
    try job.write("content", to: "ä b")
    let (command, _) = try await job.run()
    #expect(command.status == 0, "\(command.stdout)\(command.stderr)")
    let unreserved = CharacterSet(
      charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
    let secret = Workspace.secret.addingPercentEncoding(withAllowedCharacters: unreserved) ?? ""
    #expect(site.requests.map { $0[2] } == ["/%C3%A4%20b?v=1&name=%C3%A4%20b&a%3Db=c%26d%2Fe&key=\(secret)"])
    #expect(!(command.stdout + command.stderr).contains(secret))
  }
}
