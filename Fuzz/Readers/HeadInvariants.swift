@testable import FerryTransfer

/// Invariants of a response's header section, which is passed line by line as libcurl passes it.
enum HeadInvariants {
  static func violations(by input: [UInt8]) -> [String] {
    let head = ResponseHead()
    var violations: [String] = []
    feed(input, to: head)
    let fields = head.fields
    let size = fields.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count }
    // A byte that is not valid UTF-8 becomes three bytes.
    if size > 3 * input.count { violations.append("\(size) bytes of fields") }
    if !(0...999).contains(head.status) { violations.append("the status is \(head.status)") }
    if case .length(let length) = ResponseFraming(head, method: "GET"), length < 0 {
      violations.append("the length is \(length)")
    }
    for (name, value) in fields where (name + value).utf8.contains(where: { $0 == 0x0A }) {
      violations.append("a field holds a line's end: \(name)")
    }
    for (name, _) in fields where name.utf8.contains(UInt8(ascii: ":")) {
      violations.append("the name \(name)")
    }
    head.startOver()
    if !head.fields.isEmpty || head.status != 0 { violations.append("something stays") }
    return violations
  }

  /// The fields of a complete header section with these lines.
  static func fields(of input: [UInt8]) -> [(name: String, value: String)] {
    let head = ResponseHead()
    feed(Array("HTTP/1.1 200 OK\r\n".utf8) + input, to: head)
    return head.fields
  }

  private static func feed(_ input: [UInt8], to head: ResponseHead) {
    var rest = input[...]
    while !rest.isEmpty {
      let end = rest.firstIndex(of: 0x0A).map { $0 + 1 } ?? rest.endIndex
      let line = Array(rest[..<end])
      rest = rest[end...]
      let taken = line.withUnsafeBytes { head.append($0) }
      if case .tooMuch = taken { return }
    }
    // The fields are available once the section has ended.
    _ = Array("\r\n".utf8).withUnsafeBytes { head.append($0) }
  }
}
