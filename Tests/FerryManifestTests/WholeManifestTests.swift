import FerryManifest
import Foundation
import Testing

/// `Whole/manifest.yaml` contains every key of the language, except the keys for sharing.
@Suite struct `The whole manifest` {
  private func text() throws -> String {
    let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appending(
      path: "Whole/manifest.yaml")
    return try String(contentsOf: file, encoding: .utf8)
  }

  @Test func `is read without an error`() throws {
    let reading = read(try text())
    #expect(reading.diagnostics.filter { $0.severity == .error } == [])
    let manifest = try #require(reading.manifest)
    #expect(manifest.profile == .ios)
    #expect(
      manifest.budgets
        == Budgets(
          wifi: Budget(
            limit: 5_000_000_000, per: .day, cutoff: .soft, timeZone: "Europe/Berlin",
            binds: .discretionary),
          cellular: Budget(limit: 200_000_000, per: .day, binds: .discretionary),
          any: Budget(limit: 1_000_000_000_000, per: .month)))
    #expect(manifest.resumeDelay == ResumeDelay(.ios))
    #expect(manifest.executionWindow == ExecutionWindow(.ios))
    #expect(manifest.forceQuit == .removeSession)
    let session = try #require(manifest.sessions.last)
    #expect(session.discretionary == .yes)
    #expect(!session.allowsCellular && session.allowsExpensive)
    #expect(session.onEvents == ["./photos-done"])
    #expect(session.cachePolicy == .reloadIgnoringLocal)
    let origins = [try #require(OriginPattern("https://*.example.com"))]
    #expect(
      manifest.sessions.first { $0.name.value == "proxied" }?.redirects
        == RedirectRules(limit: 3, acrossOrigins: .strip, origins: origins))
    let upload = try #require(manifest.uploads.first)
    #expect(upload.after == .moveTo("sent/"))
    #expect(upload.abandon?.request.method == "DELETE")
    #expect(upload.transfer.protocol == .contentRange)
    #expect(upload.transfer.chunkSize == 8 << 20)
    #expect(upload.transfer.offsetQuery == .put)
    #expect(upload.transfer.request.method == "PUT")
    let form = try #require(manifest.uploads.last?.transfer)
    #expect(form.protocol == .multipartForm && form.request.method == "POST")
    #expect(
      form.request.body
        == .multipart(
          MultipartForm(
            fields: [.init(name: "title", value: Template([.reference(.file(.stem))]))],
            file: .init(
              field: "photo", name: Template([.reference(.file(.name))]),
              contentType: Template(literal: "image/jpeg")),
            fieldsAfter: [
              .init(
                name: "about", value: Template(literal: "{}"),
                contentType: Template(literal: "application/json"))
            ])))
    #expect(upload.commit?.idempotencyHeader == "Idempotency-Key")
    #expect(upload.commit?.probe?.request.method == "GET")
    #expect(upload.allocate?.capture.last?.source == .xml(path: "Upload/Region"))
    #expect(
      manifest.fetches.map(\.interval) == [
        .adaptive(minimum: .seconds(900), maximum: .seconds(21_600)), .never,
      ])
    #expect(manifest.engine.budgets == .shared)
    #expect(manifest.engine.slurm == .init(partition: "long", time: .seconds(7200), cpus: 2))
    let pods = manifest.engine.kubernetes
    #expect(pods.image == "registry.example.com/ferry:1" && pods.secret == "photos-secrets")
    #expect(pods.resources.cpu == "500m" && pods.resources.memory == 512 << 20)
    #expect(pods.storage.size == 10 << 30 && pods.storage.storageClass == "nfs")
    #expect(pods.storage.files == .init(claim: "photos", path: "photos"))
  }

  @Test func `has the policy defaults of its profile`() throws {
    for profile in Profile.allCases {
      let reading = read(
        "version: 1\nname: photos\nprofile: \(profile.rawValue)\nsessions: { uploads: {} }\n")
      let manifest = try #require(reading.manifest)
      #expect(manifest.resumeDelay == ResumeDelay(profile))
      #expect(manifest.executionWindow == ExecutionWindow(profile))
      #expect(manifest.forceQuit == ForceQuit(profile))
      #expect(manifest.sessions.map(\.discretionary) == [Session.Discretionary(profile)])
    }
    let mixed = read(
      "version: 1\nname: photos\nprofile: ios7\nresume_delay: { policy: none }\nexecution_window: { fetch: none }\n"
    )
    #expect(mixed.manifest?.resumeDelay == ResumeDelay(policy: .none, reset: .foreground))
    #expect(mixed.manifest?.executionWindow.fetch == nil)
    #expect(mixed.manifest?.executionWindow.background == .seconds(30))
  }
}
