extension Explanation {
  static let invalidURL = Explanation(
    "A text that is no URL for a request",
    """
    A URL is written whole, with `http://` or `https://` and a host, or begins with a reference that brings \
    these, such as a captured `Location`. It has no spaces: write `%20`. What a reference brings is encoded \
    for its place, so write references as they are. An entry of `origins` consists of a scheme, a host and \
    optionally a port, and nothing else: `https://*.example.com`.
    """,
    in: """
      version: 1
      name: photos
      sessions: { quick: {} }
      fetches:
        catalog:
          session: quick
          request: { url: ◊ }
          save_to: catalog.json
      """, wrong: "example.com/catalog", right: "https://example.com/catalog")

  static let invalidPath = Explanation(
    "A path that is not allowed here",
    """
    A fetch writes only below the manifest's folder, so that neither a typing mistake nor a server can \
    overwrite other files. `save_to` is therefore a relative path to a file, without `..` and without a \
    slash at its end. To have the file elsewhere, put the manifest there, or move the file afterwards.
    """,
    in: """
      version: 1
      name: photos
      sessions: { quick: {} }
      fetches:
        catalog:
          session: quick
          request: { url: https://example.com/catalog }
          save_to: ◊
      """, wrong: "/var/www/catalog.json", right: "www/catalog.json")

  static let invalidGlob = Explanation(
    "A glob that cannot match",
    """
    A glob of `files` has a bracket that is not closed, begins with a slash or leads out of `root` with \
    `..`. Globs are relative to `root` and never leave it: choose another `root` instead. A bracket that is \
    part of a name is written `[[]`.
    """,
    in: """
      version: 1
      name: photos
      sessions: { quick: {} }
      uploads:
        photos:
          session: quick
          files: { root: ◊
          transfer: { request: { url: "https://example.com/files/${file.path}" } }
      """, wrong: "Pictures, include: [\"../Videos/*.mp4\"] }", right: "Videos, include: [\"*.mp4\"] }")

  static let invalidPointer = Explanation(
    "A text that is no JSON pointer",
    """
    A JSON pointer (RFC 6901) is the way to a value in a JSON text: each step begins with a slash, as in \
    `/upload/id` or `/items/0`. The empty pointer is the whole text. Within a step `~` is written `~0` and a \
    slash `~1`.
    """,
    in: """
      version: 1
      name: photos
      sessions: { quick: {} }
      requests:
        notify:
          session: quick
          request: { url: https://example.com/done }
          capture: { id: { json: ◊ } }
      """, wrong: "upload.id", right: "/upload/id")

  static let invalidPattern = Explanation(
    "A regular expression that cannot be used",
    """
    The pattern does not compile, is too long, or has no group although a value is to be captured: a \
    capture takes the first pair of parentheses. The syntax is that of PCRE2 (pcre2syntax(3)), in which `\\d`, \
    `\\w` and `\\s` match only ASCII characters. Single quotes keep YAML from interpreting the backslashes.
    """,
    in: """
      version: 1
      name: photos
      sessions: { quick: {} }
      requests:
        notify:
          session: quick
          request: { url: https://example.com/done }
          capture: { id: { regex: ◊ } }
      """, wrong: "'id=\\d+'", right: "'id=(\\d+)'")

  static let invalidHeaderName = Explanation(
    "A text that is no header's name",
    """
    The name of a header field has ASCII letters, digits, `-` and a few signs, and no space or colon (RFC \
    9110 §5.1). Often the colon was written twice, once within quotes. Write the name alone, and the value \
    behind the colon.
    """,
    in: """
      version: 1
      name: photos
      sessions: { quick: { headers: { ◊: ferry } } }
      fetches:
        catalog:
          session: quick
          request: { url: https://example.com/catalog }
          save_to: catalog.json
      """, wrong: "\"User Agent\"", right: "User-Agent")

  static let ownHeader = Explanation(
    "A header that ferry sets itself",
    """
    `Host`, `Content-Length` and `Transfer-Encoding` follow from the URL, the body and the connection. A \
    second opinion in the manifest could only be wrong, or cut one request into two. Remove the header.
    """,
    in: """
      version: 1
      name: photos
      sessions: { quick: {} }
      requests:
        notify:
          session: quick
          request: { url: https://example.com/done, headers: { ◊ } }
      """, wrong: "Content-Length: 0", right: "Accept: application/json")

  static let duplicateHeader = Explanation(
    "A header that is there twice",
    """
    The case of letters makes no difference in the name of a header, so these two are the same one. Remove \
    one of them. Where a field takes several values, most can be written in one, with commas.
    """,
    in: """
      version: 1
      name: photos
      sessions: { quick: {} }
      requests:
        notify:
          session: quick
          request: { url: https://example.com/done, headers: { ◊ } }
      """, wrong: "Accept: text/plain, ACCEPT: text/html",
    right: "Accept: \"text/plain, text/html\"")

  static let invalidHeaderValue = Explanation(
    "A header's value with a line end or control character",
    """
    A line end in a header's value would begin another header, or another request: that is how requests are \
    forged. It is refused in the manifest, and again when a captured value is put in. Write the value on one \
    line; mind that `|` and `>` end their text with a line end.
    """,
    in: """
      version: 1
      name: photos
      sessions: { quick: {} }
      requests:
        notify:
          session: quick
          request: { url: https://example.com/done, headers: { X-Note: ◊ } }
      """, wrong: "\"one\\r\\ntwo\"", right: "one two")

  static let invalidMethod = Explanation(
    "A text that is no HTTP method",
    """
    HTTP methods are words in capitals, and case counts (RFC 9110 §9.1). Any may be used, also those of \
    WebDAV, but `CONNECT` and `TRACE`, which carry no request of a manifest.
    """,
    in: """
      version: 1
      name: photos
      sessions: { quick: {} }
      requests:
        notify:
          session: quick
          request: { method: ◊, url: https://example.com/done }
      """, wrong: "post", right: "POST")

  static let numberNotInJSON = Explanation(
    "A number that JSON does not have",
    """
    JSON has no infinity and no "not a number", and a whole number that does not fit 64 bits would be read \
    differently by every server. Put the value in quotes to send it as a text, or change it.
    """,
    in: """
      version: 1
      name: photos
      sessions: { quick: {} }
      requests:
        notify:
          session: quick
          request: { url: https://example.com/done, json: { ratio: ◊ } }
      """, wrong: ".nan", right: "null")

  static let onlyTrue = Explanation(
    "A value that can only be true",
    """
    The key says that something is taken, as `status: true` takes the status code; with `false` it would say \
    nothing. Remove the key where it is not meant, and name another source.
    """,
    in: """
      version: 1
      name: photos
      sessions: { quick: {} }
      requests:
        notify:
          session: quick
          request: { url: https://example.com/done }
          capture: { code: { status: ◊ } }
      """, wrong: "false", right: "true")

  static let stepToken = Explanation(
    "A step with a token of its own",
    """
    The steps of an upload carry the token that the upload names. A step can only leave it out, with `token: \
    none`, as for a presigned URL on another host. Name the token at the upload, or remove the key from the \
    step.
    """,
    in: """
      version: 1
      name: photos
      sessions: { quick: {} }
      tokens:
        login:
          session: quick
          request: { url: https://example.com/token }
          capture: { access: { json: /access, secret: true } }
          apply: { header: Authorization, value: "Bearer ${token.access}" }
      uploads:
        photos:
          session: quick
          token: login
          files: { root: Pictures }
          transfer: { token: ◊, request: { url: "https://storage.example.com/${file.path}" } }
      """, wrong: "login", right: "none")
}
