/// Selects the defaults of the policies and has no other effect. Every default of a profile can also be set
/// with a key; docs/urlsession.md has a table of them.
package enum Profile: String, CaseIterable, Codable, Sendable {
  /// Nothing is delayed and nothing is inferred.
  case server
  /// Like nsurlsessiond since iOS 8.
  case ios
  /// Like nsurlsessiond in iOS 7.
  case ios7
  /// Like `ios`, but with the shorter time limit of iOS 13 for apps that have left the foreground.
  case ios13
}
