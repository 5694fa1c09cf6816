/// The times at which a crontab line runs (POSIX crontab, and crontab(5) of Vixie cron).
///
/// Five fields: minute (0 to 59), hour (0 to 23), day of the month (1 to 31), month (1 to 12, jan to dec),
/// day of the week (0 to 7, where 0 and 7 are Sunday; sun to sat). Each is a list of `*`, numbers and ranges;
/// `/2` after a `*` or a range selects every second number. `@hourly`, `@daily`, `@midnight`, `@weekly`,
/// `@monthly`, `@yearly` and `@annually` stand for five fields.
///
/// If neither the day of the month nor the day of the week begins with `*`, a match of one of them is
/// sufficient; otherwise both must match.
package struct CronSchedule: Sendable {
  /// The expression as written.
  package let text: String
  let minutes: CronField
  let hours: CronField
  let days: CronField
  let months: CronField
  /// The days of the week; 0 is Sunday.
  let weekdays: CronField

  package init(_ text: String) throws(CronError) {
    self.text = text
    // The parser returns one field of each kind.
    let fields = try CronParser(text).fields()
    minutes = fields[0]
    hours = fields[1]
    days = fields[2]
    months = fields[3]
    weekdays = fields[4]
  }

  func matches(_ date: CivilDate) -> Bool {
    guard months.contains(date.month) else { return false }
    let byDay = days.contains(date.day)
    let byWeekday = weekdays.contains(date.weekday % 7)
    return days.isWildcard || weekdays.isWildcard ? byDay && byWeekday : byDay || byWeekday
  }
}

extension CronSchedule: Hashable {
  /// Compares the text: `@daily` and `0 0 * * *` differ.
  package static func == (a: Self, b: Self) -> Bool { a.text == b.text }

  package func hash(into hasher: inout Hasher) { hasher.combine(text) }
}

extension CronSchedule: CustomStringConvertible {
  package var description: String { text }
}

extension CronSchedule: Codable {
  package init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    let text = try container.decode(String.self)
    do {
      try self.init(text)
    } catch {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: error.description)
    }
  }

  package func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(text)
  }
}
