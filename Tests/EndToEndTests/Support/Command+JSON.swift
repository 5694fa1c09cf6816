import Foundation

extension Command {
  /// The standard output, decoded from JSON with keys in snake_case.
  func json<Value: Decodable>(_ type: Value.Type) throws -> Value {
    let decoder = JSONDecoder()
    decoder.keyDecodingStrategy = .convertFromSnakeCase
    do {
      return try decoder.decode(type, from: Data(stdout.utf8))
    } catch {
      throw CommandFailure(description: "\(error)\n\(status)\n\(stdout)\n\(stderr)")
    }
  }
}
