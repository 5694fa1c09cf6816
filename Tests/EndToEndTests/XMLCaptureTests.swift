import Foundation
import Testing

/// An upload whose `allocate` captures the upload ID from an XML response.
@Suite struct `An upload ID in XML` {
  private func job(_ server: ScriptedServer) throws -> Workspace {
    let job = try Workspace(
      """
      version: 1
      name: xml
      sessions: { uploads: { kind: background } }
      uploads:
        files:
          session: uploads
          files: { root: files }
          allocate:
            request: { method: POST, url: "\(server.home)/files?uploads" }
            capture: { upload_id: { xml: InitiateMultipartUploadResult/UploadId } }
          transfer: { request: { url: "\(server.home)/files/${allocate.upload_id}" } }
          retry: { limit: 1, initial: 10ms }

      """)
    try job.write("a", to: "a.txt")
    return job
  }

  private func server(_ body: String) async throws -> ScriptedServer {
    try await ScriptedServer.start([
      "/files?uploads": .init(status: 200, headers: ["Content-Type": "application/xml"], body: body)
    ])
  }

  /// Another thread reads documents of more than 16 KiB.
  @Test(arguments: ["", String(repeating: "<Note>x</Note>\n", count: 5_000)])
  func `is used by the transfer`(_ more: String) async throws {
    let server = try await server(
      """
      <?xml version="1.0" encoding="UTF-8"?>
      <InitiateMultipartUploadResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">
        \(more)<Bucket>b</Bucket><Key>k</Key>
        <UploadId> VXBs&amp;b2Fk/1 </UploadId>
      </InitiateMultipartUploadResult>
      """)
    let (command, _) = try await job(server).run()
    #expect(command.status == 0, "\(command.stderr)")
    #expect(server.lines == ["home POST /files?uploads", "home PUT /files/VXBs%26b2Fk%2F1"])
  }

  @Test(arguments: [
    (
      "<Error><Code>InternalError</Code></Error>",
      "there is no element InitiateMultipartUploadResult/UploadId"
    ),
    ("<!DOCTYPE a [<!ENTITY x 'y'>]><a>&x;</a>", "document type declaration"),
    (String(repeating: "<a>", count: 20_000), "nested more than 256 levels deep"),
    (#"{"id":"1"}"#, "the response is not XML"),
  ])
  func `that cannot be read fails the file`(_ body: String, message: String) async throws {
    let server = try await server(body)
    let (command, report) = try await job(server).run()
    #expect(command.status == 1, "\(command.stderr)")
    #expect(report.item("a.txt")?.reason?.message.contains(message) == true, "\(command.stderr)")
    #expect(server.lines.allSatisfy { $0 == "home POST /files?uploads" })
  }
}
