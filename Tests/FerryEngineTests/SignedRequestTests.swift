import FerryDigest
import FerryManifest
import FerryPlan
import Testing

@testable import FerryEngine
@testable import FerryTransfer

/// The settings that are used to sign requests, and the digests that the signatures need.
struct SignedRequestTests {
  private func nodes(
    _ url: String, sign: String = "", transfer: String = "protocol: put"
  ) -> String {
    """
    uploads:
      u:
        session: s
        files: { root: files }
        allocate:
          request: { url: "http://h/ids" }
          capture: { id: { header: Location } }
        transfer:
          \(transfer)
          request: { url: "\(url)" }
          sign: { aws_v4: { region: r, access_key: AK, secret_key: "${secrets.key}"\(sign) } }
    """
  }

  private func run(_ nodes: String) throws -> (TestRun, Attempt) {
    let run = try TestRun(nodes, files: ["f"], size: 25, secret: "geheim-12345")
    try run.respond(to: .allocate, 201, headers: [("Location", "http://h/up")])
    return (run, try #require(run.started.first { $0.step == .transfer }))
  }

  @Test(arguments: [
    ("http://h/f", "", true), ("https://h/f", "", false), ("https://h/f", ", payload: signed", true),
    ("http://h/f", ", payload: unsigned", false), ("https://h/f", ", service: api", true),
    ("${allocate.id}", "", true),
  ]) func aFileIsHashedForItsSignatureIfNecessary(_ url: String, sign: String, isHashed: Bool) throws {
    let (run, attempt) = try run(nodes(url, sign: sign))
    #expect((try run.requests.fileToHash(before: attempt, run.scheduler) != nil) == isHashed)
    #expect(try run.requests.partToHash(before: attempt, run.scheduler) == nil)
    let digest = [UInt8](repeating: 7, count: 32)
    if isHashed { run.captures.keep(sha256: digest, of: attempt.ref) }
    let signing = try #require(try run.request(.transfer).signing)
    #expect(signing.credentials == AWSCredentials(accessKey: "AK", secretKey: "geheim-12345"))
    #expect(signing.date == TestRun.start && signing.owner == .request)
    #expect(
      signing.payload == (sign.contains("unsigned") ? .unsigned : .signed(file: isHashed ? digest : nil)))
  }

  @Test func aPartIsHashedForItsSignature() throws {
    let (run, attempt) = try run(
      nodes("${allocate.id}", transfer: "protocol: content_range\n      chunk_size: 10B"))
    #expect(try run.requests.fileToHash(before: attempt, run.scheduler) == nil)
    #expect(try run.requests.partToHash(before: attempt, run.scheduler)?.source.part == 0..<10)
    let digest = [UInt8](repeating: 7, count: 32)
    let request = try run.requests.request(
      for: attempt, run.scheduler, &run.fetches, at: TestRun.start, part: [.sha256: digest])
    #expect(request.signing?.payload == .signed(file: digest))
  }

  @Test func aPartIsHashedForItsSignatureAndForItsChecksum() throws {
    let (run, attempt) = try run(
      nodes("${allocate.id}", transfer: "protocol: tus\n      chunk_size: 10B\n      checksum: crc32"))
    var digests: PartDigests = [:]
    var algorithms: [DigestAlgorithm] = []
    while let part = try run.requests.partToHash(before: attempt, knowing: digests, run.scheduler) {
      #expect(part.source.part == 0..<10)
      algorithms.append(part.algorithm)
      digests[part.algorithm] = [UInt8](repeating: 1, count: part.algorithm == .crc32 ? 4 : 32)
    }
    #expect(algorithms == [.sha256, .crc32])
    let request = try run.requests.request(
      for: attempt, run.scheduler, &run.fetches, at: TestRun.start, part: digests)
    #expect(request.signing?.payload == .signed(file: [UInt8](repeating: 1, count: 32)))
    #expect(request.headers.first { $0.name == "Upload-Checksum" }?.value == "crc32 AQEBAQ==")
  }

  @Test func otherRequestsAreNotSigned() throws {
    let run = try TestRun(nodes("http://h/f"), files: ["f"], secret: "geheim-12345")
    #expect(try run.request(.allocate).signing == nil)
  }
}
