extension BadManifest {
  private static let noBandwidth = "this is neither a rate in bytes per second nor a timetable of rates"
  private static let bandwidthHelp =
    "write a rate such as 2MB, or times of day in ascending order, each with its rate, such as \"08:00 1MB, 18:00 off\""

  /// F0303 to F0308: durations, sizes and other quantities.
  static let quantities: [BadManifest] = [
    BadManifest(
      "limits of the bandwidth that are none", in: .nothing,
      """
      version: 1
      name: photos
      max_bandwidth: 1️⃣off
      sessions:
        a: { max_bandwidth: 2️⃣1.5MB }
        b: { max_bandwidth: 3️⃣"08:00 1MB" }
        c: { max_bandwidth: 4️⃣"18:00 1MB, 08:00 off" }
        d: { max_bandwidth: { limit: 5️⃣"8:00 1MB, 18:00 off" } }
        e: { max_bandwidth: 6️⃣"08:00 1MB, 24:00 off" }
        f: { max_bandwidth: 7️⃣0B }
      """,
      .error("1️⃣", .malformedQuantity, noBandwidth, help: bandwidthHelp),
      .error("2️⃣", .malformedQuantity, noBandwidth, help: bandwidthHelp),
      .error("3️⃣", .malformedQuantity, noBandwidth, help: bandwidthHelp),
      .error("4️⃣", .malformedQuantity, noBandwidth, help: bandwidthHelp),
      .error("5️⃣", .malformedQuantity, noBandwidth, help: bandwidthHelp),
      .error("6️⃣", .malformedQuantity, noBandwidth, help: bandwidthHelp),
      .error("7️⃣", .malformedQuantity, noBandwidth, help: bandwidthHelp)),
    BadManifest(
      "a timeout without a unit", in: .session, "timeout_for_request: 1️⃣30",
      .error(
        "1️⃣", .missingUnit, "'timeout_for_request' needs a unit",
        help: "write one of 30ms, 30s, 30m, 30h, 30d or 30w")),
    BadManifest(
      "a size without a unit", in: .upload,
      "files: {}\nbatch: { max_bytes: 1️⃣5 }\ntransfer: { request: { url: https://example.com/ } }",
      .error(
        "1️⃣", .missingUnit, "'max_bytes' needs a unit",
        help: "write one of 5B, 5kB, 5MB, 5GB, 5TB, 5KiB, 5MiB, 5GiB or 5TiB")),
    BadManifest(
      "a unit in full", in: .session, "timeout_for_request: 1️⃣10min",
      .error(
        "1️⃣", .unknownUnit, "'timeout_for_request' has the unknown unit 'min'", help: "did you mean '10m'?")),
    BadManifest(
      "a unit in small letters", in: .upload,
      "files: {}\nbatch: { max_bytes: 1️⃣500mb }\ntransfer: { request: { url: https://example.com/ } }",
      .error("1️⃣", .unknownUnit, "'max_bytes' has the unknown unit 'mb'", help: "did you mean '500MB'?")),
    BadManifest(
      "a unit without its last letter", in: .upload,
      "files: {}\nbatch: { max_bytes: 1️⃣5G }\ntransfer: { request: { url: https://example.com/ } }",
      .error("1️⃣", .unknownUnit, "'max_bytes' has the unknown unit 'G'", help: "did you mean '5GB'?")),
    BadManifest(
      "a unit that has no fixed length", in: .session, "timeout_for_resource: 1️⃣1y",
      .error(
        "1️⃣", .unknownUnit, "'timeout_for_resource' has the unknown unit 'y'",
        help: "the units are ms, s, m, h, d or w")),
    BadManifest(
      "an hour and a half", in: .session, "timeout_for_resource: 1️⃣1.5h",
      .error(
        "1️⃣", .fraction, "'timeout_for_resource' must be a whole number and a unit", help: "write '90m'")),
    BadManifest(
      "half a gigabyte", in: .upload,
      "files: {}\nbatch: { max_bytes: 1️⃣0.5GB }\ntransfer: { request: { url: https://example.com/ } }",
      .error("1️⃣", .fraction, "'max_bytes' must be a whole number and a unit", help: "write '500MB'")),
    BadManifest(
      "less than the smallest unit", in: .session, "timeout_for_request: 1️⃣0.5ms",
      .error(
        "1️⃣", .fraction, "'timeout_for_request' must be a whole number and a unit",
        help: "use a smaller unit: ms, s, m, h, d or w")),
    BadManifest(
      "two units", in: .session, "timeout_for_resource: 1️⃣1h30m",
      .error(
        "1️⃣", .malformedQuantity, "'timeout_for_resource' must be a duration such as 30s, found '1h30m'",
        help: "write '90m'")),
    BadManifest(
      "a space before the unit", in: .upload,
      "files: {}\nbatch: { max_bytes: 1️⃣500 MB }\ntransfer: { request: { url: https://example.com/ } }",
      .error(
        "1️⃣", .malformedQuantity, "'max_bytes' must be a size such as 500MB, found '500 MB'",
        help: "write '500MB'")),
    BadManifest(
      "a word for a span of time", in: .session, "timeout_for_request: 1️⃣soon",
      .error(
        "1️⃣", .malformedQuantity, "'timeout_for_request' must be a duration such as 30s, found 'soon'",
        help: "write one number followed by one unit: ms, s, m, h, d or w")),
    BadManifest(
      "a timeout of nothing", in: .session, "timeout_for_request: 1️⃣0s",
      .error("1️⃣", .outOfRange, "'timeout_for_request' must be at least 1ms", help: "write 1ms or more")),
    BadManifest(
      "a size of nothing", in: .upload,
      "files: {}\nbatch: { max_bytes: 1️⃣0B }\ntransfer: { request: { url: https://example.com/ } }",
      .error("1️⃣", .outOfRange, "'max_bytes' must be at least 1B", help: "write 1B or more")),
    BadManifest(
      "a timeout of ages", in: .session, "timeout_for_resource: 1️⃣5300w",
      .error(
        "1️⃣", .outOfRange, "'timeout_for_resource' is too large", help: "the largest is a century, 36500d")),
    BadManifest(
      "a first wait that is longer than the longest", in: .request,
      "request: { url: https://example.com/ }\nretry: { initial: 1️⃣10m, max: 2️⃣1m }",
      .error(
        "1️⃣", .contradictoryBounds, "'initial' is longer than 'max'",
        help: "set 'max' to 10m or more, or shorten 'initial'", notes: [("2️⃣", "'max' is set here")])),
    BadManifest(
      "a first wait that is longer than the longest is by default", in: .request,
      "request: { url: https://example.com/ }\nretry: { initial: 1️⃣10m }",
      .error(
        "1️⃣", .contradictoryBounds, "'initial' is longer than 'max'",
        help: "set 'max' to 10m or more, or shorten 'initial'; 'max' is 5m by default")),
    BadManifest(
      "a longest wait that is shorter than the first is by default", in: .request,
      "request: { url: https://example.com/ }\nretry: { max: 1️⃣100ms }",
      .error(
        "1️⃣", .contradictoryBounds, "'initial' is longer than 'max'",
        help: "set 'max' to 1s or more, or shorten 'initial'; 'initial' is 1s by default")),
    BadManifest(
      "a wait that cannot be read, and is not compared then", in: .request,
      "request: { url: https://example.com/ }\nretry: { initial: 1️⃣50, max: 100ms }",
      .error(
        "1️⃣", .missingUnit, "'initial' needs a unit", help: "write one of 50ms, 50s, 50m, 50h, 50d or 50w")),
  ]
}
