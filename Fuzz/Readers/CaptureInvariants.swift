import FerryManifest
import FerryPlan

@testable import FerryEngine
@testable import FerryJournal
@testable import FerryTransfer

/// Invariants of captured values, and of how the journal stores them.
enum CaptureInvariants {
  /// The parts of the input are a JSON pointer, a header section, and a body.
  static func violations(by input: [UInt8]) -> [String] {
    let parts = input.parts(atMost: 3)
    let pointer = parts[0].text
    let fields = parts.count > 1 ? HeadInvariants.fields(of: parts[1]) : []
    let body = parts.last ?? []
    let response = TransferResponse(status: 200, headers: fields, body: body, url: "http://127.0.0.1/")
    let captures = [
      Capture(name: "status", source: .status), Capture(name: "json", source: .json(pointer: pointer)),
      Capture(name: "h\u{301}", source: .header(fields.last?.name ?? "Location"), isSecret: true),
      Capture(name: "\"\\\n", source: .json(pointer: "")),
    ]
    var values: [CapturedValue] = []
    var violations: [String] = []
    for capture in captures {
      do throws(TransportFailure) {
        values += try CaptureReader.read([capture], from: response, Patterns([capture]))
      } catch {
        if error.message.isEmpty {
          violations.append("a failure without words")
        }
      }
    }
    return violations + kept(values) + decoded(body.text)
  }

  /// Values that are written into the journal are read back unchanged, secret values separately from others.
  private static func kept(_ values: [CapturedValue]) -> [String] {
    let merged = CaptureText.merge([], values)
    var violations: [String] = []
    for secret in [false, true] {
      let wanted = merged.filter { $0.isSecret == secret }
      let text = CaptureText.encode(merged, secret: secret)
      guard let read = CaptureText.decode(text, secret: secret) else {
        return ["captures are not read again"]
      }
      if !same(read, wanted) { violations.append("captures are read as others") }
      if let text, (try? JSONParser.parse(Array(text.utf8))) == nil {
        violations.append("captures are kept as no JSON")
      }
    }
    return violations
  }

  /// Captures that are decoded from arbitrary text in the journal's column can be written and read again.
  private static func decoded(_ text: String) -> [String] {
    guard let values = CaptureText.decode(text, secret: true), !values.isEmpty else { return [] }
    guard let again = CaptureText.decode(CaptureText.encode(values, secret: true), secret: true) else {
      return ["captures that were read are not read again"]
    }
    return same(again, values) ? [] : ["captures that were read are read as others"]
  }

  private static func same(_ a: [CapturedValue], _ b: [CapturedValue]) -> Bool {
    a.count == b.count
      && zip(a, b).allSatisfy {
        $0.name.isSame(as: $1.name) && $0.value.isSame(as: $1.value) && $0.isSecret == $1.isSecret
      }
  }
}
