extension ManifestDecoder {
  /// Warns of what is legal and surely not meant; of nothing where there is an error, which may be its cause.
  ///
  /// - Parameter others: what was found before the manifest was decoded.
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
  }

  /// - Parameter use: where the alias stands that brought the value, if one did.
  mutating func warn(
    _ code: DiagnosticCode, at location: SourceLocation, _ message: String, help: String,
    notes: [Diagnostic.Note] = [], use: SourceLocation? = nil
  ) {
    report(code, .warning, at: location, message, help: help, notes: notes, use: use)
  }
}
