extension ManifestDecoder {
  /// Warns of valid content that is probably unintended. If the manifest has errors, no warnings are
  /// reported, because an error may be their cause.
  ///
  /// - Parameter others: the diagnostics found before the manifest was decoded.
  mutating func checkWarnings(_ manifest: Manifest?, after others: [Diagnostic]) {
    guard let manifest, (others + diagnostics).allSatisfy({ $0.severity != .error }) else { return }
    warnOfUnusedSessions()
    warnOfUploadIDsWithoutLife(manifest)
    warnOfPlainSecrets(manifest)
    warnOfTokensWithoutTLS(manifest)
    warnOfSharedFiles(manifest)
    warnOfIdlePriorities(manifest)
    warnOfIdleComparisons(manifest)
    warnOfTakenFiles(manifest)
    warnOfIdlePolicies(manifest)
    warnOfIdleRepeatable(manifest)
    warnOfPartSettings(manifest)
    warnOfIdleSegments(manifest)
    warnOfIdleSignatures(manifest)
    warnOfIdleConnectionSettings(manifest)
    warnOfIdleAuth(manifest)
  }

  /// Reports a warning.
  ///
  /// - Parameter use: the location of the alias that inserted the value, if there is one.
  mutating func warn(
    _ code: DiagnosticCode, at location: SourceLocation, _ message: String, help: String,
    notes: [Diagnostic.Note] = [], use: SourceLocation? = nil
  ) {
    report(code, .warning, at: location, message, help: help, notes: notes, use: use)
  }
}
