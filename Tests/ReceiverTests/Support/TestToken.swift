/// The response of the token route.
struct TestToken: Decodable {
  let token: String
  let kind: String
  /// The lifetime in seconds.
  let life: Double

  enum CodingKeys: String, CodingKey {
    case token = "access_token"
    case kind = "token_type"
    case life = "expires_in"
  }
}
