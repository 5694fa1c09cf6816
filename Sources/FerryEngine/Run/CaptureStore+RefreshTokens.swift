import FerryJournal
import FerryManifest
import FerryPlan

/// Refresh tokens (RFC 6749, section 6).
extension CaptureStore {
  /// The refresh token to send with an attempt.
  ///
  /// - Throws: if the journal cannot be read; the fault is also stored in `journalFault`.
  func refreshToken(of chain: RefreshChain, for attempt: Attempt) throws(TransportFailure) -> SensitiveValue {
    guard let refreshTokens else { preconditionFailure("a run with refresh tokens has their journal") }
    do throws(JournalError) {
      let token = try refreshTokens.current(chain)
      for value in [chain.first, token] { keep(tokenSecret: value.revealed, of: attempt) }
      refreshes[attempt.id] = (chain, token)
      return token
    } catch {
      journalFault = error
      throw TransportFailure(
        .request, "the journal with the refresh token cannot be read", mayHaveReachedServer: false)
    }
  }

  /// Journals the refresh token in the response to an attempt, if it differs from the one that was sent. A failure is
  /// stored in `journalFault`.
  func keep(refreshToken issued: String?, of attempt: Attempt) {
    guard let (chain, sent) = refreshes.removeValue(forKey: attempt.id), let issued, issued != sent.revealed,
      let refreshTokens
    else { return }
    keep(tokenSecret: issued, of: attempt)
    let node = plan.nodes[attempt.ref.node.index]
    do throws(JournalError) {
      try refreshTokens.keep(
        SensitiveValue(issued), chain, manifest: plan.manifests[node.manifest.index], node: node.name)
    } catch {
      journalFault = error
    }
  }
}
