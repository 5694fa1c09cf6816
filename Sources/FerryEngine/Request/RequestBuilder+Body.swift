import FerryDigest
import FerryManifest
import FerryPlan
import FerryReport
import FerryTransfer

extension RequestBuilder {
  func body(
    _ bindings: Bindings, sensitive: inout [String]
  ) throws(TransportFailure) -> TransferRequest.Body {
    switch template.body {
    case .none: return .none
    case .form(let fields): return .bytes(try Self.form(fields, bindings, &sensitive))
    case .json(let json):
      var bytes: [UInt8] = []
      try Self.append(json, bindings, &sensitive, to: &bytes)
      return .bytes(bytes)
    }
  }

  private static func form(
    _ fields: [RequestTemplate.Field], _ bindings: Bindings, _ sensitive: inout [String]
  ) throws(TransportFailure) -> [UInt8] {
    var bytes: [UInt8] = []
    for field in fields {
      if !bytes.isEmpty { bytes.append(UInt8(ascii: "&")) }
      PercentEncoding.append(Array(field.name.utf8), for: .form, to: &bytes)
      bytes.append(UInt8(ascii: "="))
      PercentEncoding.append(try text(field.value, bindings, sensitive: &sensitive), for: .form, to: &bytes)
    }
    return bytes
  }

  /// Appends compact JSON with members in the manifest's order. The manifest's reader limits the depth of a template.
  private static func append(
    _ json: JSONTemplate, _ bindings: Bindings, _ sensitive: inout [String], to bytes: inout [UInt8]
  ) throws(TransportFailure) {
    switch json {
    case .null: bytes += "null".utf8
    case .bool(let value): bytes += (value ? "true" : "false").utf8
    case .integer(let value): bytes += String(value).utf8
    case .number(let value):
      guard value.isFinite else { throw failure("a number in the JSON body is not finite") }
      bytes += value.description.utf8
    case .string(let template):
      if template.segments.count == 1, case .reference(let reference, let filters) = template.segments[0] {
        let value = try value(of: reference, filters, bindings, sensitive: &sensitive)
        if value.isNumber { bytes += value.bytes } else { JSONString.append(value.bytes, to: &bytes) }
      } else {
        JSONString.append(try text(template, bindings, sensitive: &sensitive), to: &bytes)
      }
    case .array(let elements):
      bytes.append(UInt8(ascii: "["))
      for (index, element) in elements.enumerated() {
        if index > 0 { bytes.append(UInt8(ascii: ",")) }
        try append(element, bindings, &sensitive, to: &bytes)
      }
      bytes.append(UInt8(ascii: "]"))
    case .object(let members):
      bytes.append(UInt8(ascii: "{"))
      for (index, member) in members.enumerated() {
        if index > 0 { bytes.append(UInt8(ascii: ",")) }
        JSONString.append(Array(member.name.utf8), to: &bytes)
        bytes.append(UInt8(ascii: ":"))
        try append(member.value, bindings, &sensitive, to: &bytes)
      }
      bytes.append(UInt8(ascii: "}"))
    }
  }
}
