import Foundation

struct TestResponse {
  struct Malformed: Error {
    let head: String
  }

  let status: Int
  var body = Data()
  private var fields: [String: String] = [:]

  init(head: String) throws {
    let lines = head.split(separator: "\r\n")
    let words = lines.first?.split(separator: " ") ?? []
    guard words.count >= 2, words[0] == "HTTP/1.1", let status = Int(words[1]) else {
      throw Malformed(head: head)
    }
    self.status = status
    for line in lines.dropFirst() {
      let sides = line.split(separator: ":", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
      if sides.count == 2 { fields[sides[0].lowercased()] = sides[1] }
    }
  }

  /// The value of the header field with this name in lowercase.
  subscript(name: String) -> String? { fields[name] }

  var text: String { String(decoding: body, as: UTF8.self) }

  func json<Value: Decodable>(_ type: Value.Type) throws -> Value {
    try JSONDecoder().decode(type, from: body)
  }

  /// The error code in a JSON body.
  var problem: String? { try? json([String: String].self)["error"] }
}
