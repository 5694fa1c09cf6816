extension Explanation {
  static let fileOverBudget = Explanation(
    "A file that is larger than every budget",
    """
    The file is larger than the whole budget of every network that its session may use, so it would wait \
    indefinitely. Only `ferry plan` can detect this, because it looks at the files; a run reports such a \
    file as failed. Raise the limit, use `cutoff: soft`, which lets a transfer that has started finish, \
    exclude the file, or let the session use another network.
    """)

  static let unknownTimeZone = Explanation(
    "A time zone that this machine does not know",
    """
    The windows of a budget follow the clock of its `time_zone`, and this machine does not know that zone. \
    Check the spelling of the IANA name, such as `Europe/Berlin`, or install the system's time zone data \
    (`tzdata`).
    """)
}
