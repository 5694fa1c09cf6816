extension Explanation {
  static let fileOverBudget = Explanation(
    "A file that no budget has room for",
    """
    The file is larger than the whole budget of every network that its session may use, so it would wait for \
    ever. Only `ferry plan` can know, because it sees the files; a run ends such a file as failed. Raise the \
    limit, take `cutoff: soft`, with which what has begun may finish, leave the file out, or let the session \
    use another network.
    """)

  static let unknownTimeZone = Explanation(
    "A time zone that this machine does not know",
    """
    A budget's window begins where the clocks of its `time_zone` say so, and this machine has no such zone. \
    Mind the spelling of the IANA name, such as `Europe/Berlin`, or install the system's time zone data \
    (`tzdata`).
    """)
}
