/// The defaults of the policies, and nothing else: whatever a profile gives, a key can give too.
package enum Profile: String, CaseIterable, Codable, Sendable {
  /// Nothing is delayed and nothing is inferred.
  case server
  /// As nsurlsessiond since iOS 8.
  case ios
  /// As nsurlsessiond in iOS 7.
  case ios7
}
