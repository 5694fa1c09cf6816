/// How a request is signed.
package enum RequestSigning: Hashable, Codable, Sendable {
  /// `sign: none`: the session's signature is omitted.
  case off
  case awsV4(AWSV4)

  /// AWS Signature Version 4.
  package struct AWSV4: Hashable, Codable, Sendable {
    package enum Payload: String, Codable, Sendable, CaseIterable {
      case signed
      case unsigned
    }

    /// The AWS region; `nil` for the region of the environment or the profile.
    package var region: String?
    /// The AWS service; `s3` by default.
    package var service = "s3"
    /// The profile of the credentials; `nil` for the environment's credentials or profile.
    package var profile: String?
    /// The access key; `nil` for the credentials of the environment or the profile.
    package var accessKey: Template?
    package var secretKey: Template?
    package var sessionToken: Template?
    /// Whether the signature covers the body; `nil` to cover it unless it is a file sent to S3 over https.
    package var payload: Payload?

    package init() {}

    /// Whether the credentials come from the environment or a profile.
    package var usesProfile: Bool { accessKey == nil }
  }

  /// The texts with references.
  package var templates: [Template] {
    switch self {
    case .off: []
    case .awsV4(let signing): [signing.accessKey, signing.secretKey, signing.sessionToken].compactMap(\.self)
    }
  }
}

extension Manifest {
  /// The AWS signatures of its requests, including those of `on_end`.
  package var awsSignatures: [RequestSigning.AWSV4] {
    let bySession = Dictionary(
      sessions.map { ($0.name.value, $0.sign) }, uniquingKeysWith: { first, _ in first })
    return sessionRequests.compactMap { request, session in
      switch request.sign ?? bySession[session.value] ?? nil {
      case .awsV4(let signing): signing
      case .off, nil: nil
      }
    }
  }

  /// All requests with the sessions that send them.
  var sessionRequests: [(request: RequestTemplate, session: Located<String>)] {
    var all = tokens.map { ($0.request, $0.session) }
    for upload in uploads {
      let own = upload.session
      if let allocate = upload.allocate { all.append((allocate.request, allocate.session ?? own)) }
      all.append((upload.transfer.request, own))
      if let commit = upload.commit {
        all.append((commit.request, commit.session ?? own))
        if let probe = commit.probe { all.append((probe.request, commit.session ?? own)) }
      }
      if let abandon = upload.abandon { all.append((abandon.request, abandon.session ?? own)) }
    }
    all += fetches.map { ($0.request, $0.session) }
    all += downloads.map { ($0.request, $0.session) }
    all += requests.map { ($0.request, $0.session) }
    all += onEnd.map { ($0.request.request, $0.request.session) }
    return all
  }

  /// The files that bodies of requests contain, other than those of transfers, by their paths: absolute, or relative to the
  /// manifest's folder.
  package var bodyFiles: [String] {
    sessionRequests.compactMap {
      switch $0.request.body {
      case .file(let path): path
      case .parts(let parts): parts.file?.path
      case .none, .form, .json, .text, .multipart, .oauth2, .listOfParts: nil
      }
    }
  }
}
