extension Explanation {
  static let fileOverBudget = Explanation(
    "A file that is larger than every budget",
    """
    The file is larger than the whole budget of every network that its session may use, so it would wait \
    indefinitely. Only `ferry plan` can detect this, because it reads the sizes of the files; a run reports such a \
    file as failed. Raise the limit, exclude the file, let the session use a different network, or use \
    `cutoff: soft`, with which a transfer that has started may finish.
    """)

  static let unknownTimeZone = Explanation(
    "A time zone that is not installed on this machine",
    """
    A budget or a bandwidth limit names a `time_zone`, but this machine's time zone database (`/usr/share/zoneinfo`) \
    does not contain it. Check the spelling and capitalization of the IANA name, such as `Europe/Berlin`, or install \
    the database (the package `tzdata`; some systems have old names, such as `US/Pacific`, in `tzdata-legacy`).
    """)
}
