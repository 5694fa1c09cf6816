import FerryPlan

/// Formats the reason why work is waiting, and the time until which it waits.
package enum ReasonText {
  /// Returns the reason and the time until which the work waits.
  ///
  /// - Parameter zone: the time zone in which times are shown.
  package static func text(_ reason: RecordedFailure, in zone: CalendarZone) -> String {
    let message = text(reason)
    return reason.until.map { "\(message), until \($0.rfc3339(in: zone))" } ?? message
  }

  /// The reason for a failure, with the URL of the request and the server's response.
  package static func text(_ reason: RecordedFailure) -> String {
    text(reason.message, reason.detail)
  }

  /// Returns a message with the URL, proxy and response of the failed request.
  ///
  /// - Parameter detail: `nil` for a failure without a request.
  static func text(_ message: String, _ detail: FailureDetail?) -> String {
    var text = message
    if let detail {
      let phrase = detail.reasonPhrase.map { "; \($0)" } ?? ""
      let url = detail.url.map { detail.reasonPhrase == nil ? "; URL \($0)" : " from \($0)" } ?? ""
      // The message of a failure to connect already names the proxy.
      let isNamed = detail.proxy.map(message.contains) ?? true
      let proxy = isNamed ? "" : detail.proxy.map { ", through the proxy \($0)" } ?? ""
      text += phrase + url + proxy + (detail.body.map { ": \($0)" } ?? "")
    }
    return DisplayPath.line(text)
  }

  /// The cause of a failure that several items may have, such as `403 Forbidden, PUT https://host/1.txt`.
  ///
  /// - Parameters:
  ///   - item: the name of the item, or of the first of several items. The path at the beginning of the message is omitted
  ///     if it ends with this name: it would be repeated, or seem to be the path of all items.
  ///   - isFirst: whether the name is inserted after the URL.
  static func cause(_ reason: RecordedFailure, of item: String, isFirst: Bool = false) -> String {
    let detail = reason.detail
    var (head, rest) = (reason.message, "")
    if let status = reason.status, let method = detail?.method {
      let usual = RecordedFailure.statusMessage(status, to: method)
      if reason.message.hasPrefix(usual) {
        head = "\(status)" + (detail?.reasonPhrase.map { $0.isEmpty ? "" : " \($0)" } ?? "")
        rest = String(reason.message.dropFirst(usual.count))
      }
    }
    head = withoutPath(of: item, head)
    let request = [detail?.method, detail?.url].compactMap(\.self).joined(separator: " ")
    if !request.isEmpty { head += ", \(request)" }
    if isFirst { head += " (first: \(item))" }
    let isNamed = detail?.proxy.map(reason.message.contains) ?? true
    if !isNamed, let proxy = detail?.proxy { rest += ", through the proxy \(proxy)" }
    return DisplayPath.line(head + rest + (detail?.body.map { ": \($0)" } ?? ""))
  }

  /// Removes the item's path and a colon from the beginning of a message.
  private static func withoutPath(of item: String, _ message: String) -> String {
    let bytes = Array(message.utf8)
    let end = Array((item + ": ").utf8)
    guard let colon = bytes.indices.first(where: { bytes[$0...].starts(with: ": ".utf8) }),
      bytes[..<(colon + 2)].reversed().starts(with: end.reversed()), colon + 2 < bytes.count,
      colon + 2 == end.count || bytes[colon + 1 - end.count] == UInt8(ascii: "/")
    else { return message }
    return String(decoding: bytes[(colon + 2)...], as: UTF8.self)
  }

  /// Converts an RFC 3339 time from a document to the time zone. Returns any other text unchanged.
  package static func moment(_ text: String, in zone: CalendarZone) -> String {
    Instant(rfc3339: text)?.rfc3339(in: zone) ?? text
  }

  /// The budgets, one per line.
  package static func lines(_ budgets: [BudgetUse], in zone: CalendarZone) -> [String] {
    budgets.map {
      "\($0.network.rawValue)\($0.binds == .all ? "" : ", for discretionary sessions"): \(ByteText.text($0.usedBytes)) of \(ByteText.text($0.limitBytes)) used, "
        + "window ends at \(moment($0.window.until, in: zone))"
    }
  }
}
