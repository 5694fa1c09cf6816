import FerryManifest
import Foundation
import Testing

/// `Whole/manifest.yaml` has every key of the language but those of sharing.
@Suite struct `The whole manifest` {
  private func reading() throws -> ManifestReading {
    let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appending(
      path: "Whole/manifest.yaml")
    return ManifestReader(environment: [:]).read(Array(try Data(contentsOf: file)), file: "m.yaml")
  }

  @Test func `is read without an error, including unimplemented keys`() throws {
    let reading = try reading()
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
    #expect(session.cachePolicy == .reloadIgnoringLocal)
    #expect(session.serviceType == .background)
    #expect(session.onEvents == ["./photos-done"])
    let upload = try #require(manifest.uploads.first)
    #expect(upload.after == .moveTo("sent/"))
    #expect(upload.abandon?.request.method == "DELETE")
    #expect(upload.transfer.protocol == .tus)
    #expect(upload.transfer.request.method == "PATCH")
    #expect(upload.commit?.idempotencyHeader == "Idempotency-Key")
    #expect(upload.commit?.probe?.request.method == "GET")
    #expect(upload.allocate?.capture.last?.source == .xml(path: "Upload/Region"))
    #expect(
      manifest.fetches.map(\.interval) == [
        .adaptive(minimum: .seconds(900), maximum: .seconds(21_600)), .never,
      ])
  }

  @Test func `has each key reported that a run rejects`() throws {
    let told = try reading().diagnostics.filter { $0.code == .notBuilt }
    #expect(
      told.map { $0.message.prefix { $0 != ":" }.split(separator: "'").first ?? "" } == [
        "cache_policy", "service_type", "xml", "protocol",
      ])
    #expect(told.allSatisfy { $0.severity == .warning })
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
    #expect(mixed.manifest?.resumeDelay == ResumeDelay(policy: .none))
    #expect(mixed.manifest?.executionWindow.fetch == nil)
    #expect(mixed.manifest?.executionWindow.background == .seconds(30))
  }
}
