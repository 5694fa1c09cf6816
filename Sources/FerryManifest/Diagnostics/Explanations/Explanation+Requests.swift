extension Explanation {
  static let invalidURL = Explanation(
    "An invalid URL",
    """
    Write a complete URL, with `http://` or `https://` and a host, or begin it with a reference that \
    supplies these, such as a captured `Location`. It must not contain spaces: write `%20`. ferry \
    percent-encodes the values of references for their position, so do not encode them yourself. An entry of `origins` consists of \
    a scheme, a host and optionally a port, and nothing else: `https://*.example.com`.
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
    A fetch writes only below the manifest's folder, so that neither a typing error nor a server can \
    overwrite other files. `save_to` must be a relative path to a file, without `..` and without a trailing \
    slash. If you need the file elsewhere, put the manifest there, or move the file afterwards. Each item of a \
    download batch needs a separate file; paths that differ only in case are the same file on some systems.
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
    "A glob that is invalid or leaves the root",
    """
    A glob of `files` has an unclosed bracket, begins with a slash, or leaves `root` with `..`. \
    Globs are relative to `root` and must stay inside it: choose another `root` instead. To match a literal \
    bracket, write `[[]`.
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
    "An invalid JSON pointer",
    """
    A JSON pointer (RFC 6901) is the path to a value in a JSON text: each step begins with a slash, as in \
    `/upload/id` or `/items/0`. The empty pointer refers to the whole text. Within a step, write `~` as `~0` and a \
    slash as `~1`.
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

  static let invalidElementPath = Explanation(
    "An invalid path of an XML element",
    """
    The path consists of the names of the elements from the root of the document to the element whose text is \
    captured, separated by slashes, as in `CreateResult/Upload/Id`. Namespaces are ignored, so the names have no \
    prefixes. XPath is not supported: attributes, predicates and wildcards cannot be captured with `xml`; use \
    `regex`.
    """,
    in: """
      version: 1
      name: photos
      sessions: { quick: {} }
      requests:
        notify:
          session: quick
          request: { url: https://example.com/done }
          capture: { id: { xml: ◊ } }
      """, wrong: "//Upload/Id", right: "CreateResult/Upload/Id")

  static let invalidPattern = Explanation(
    "A regular expression that cannot be used",
    """
    The pattern does not compile, is too long, or has no capture group although a capture uses it: a capture \
    takes the text that the first group matches. The syntax is that of PCRE2 (pcre2syntax(3)), in which `\\d`, `\\w` \
    and `\\s` match only ASCII characters. Single quotes keep YAML from interpreting the backslashes.
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
    "An invalid header field name",
    """
    The name of a header field consists of ASCII letters, digits, `-` and a few other characters, without \
    spaces or colons (RFC 9110 §5.1). A common mistake is to put the colon inside the quotes. Write only the name \
    before the colon, and the value after it.
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
    ferry derives `Host`, `Content-Length` and `Transfer-Encoding` from the URL, the body and the \
    connection. Any other value would be wrong, and could make a server read one request as two. In a transfer with \
    `protocol: multipart_form` and in a request with `multipart`, ferry also sets `Content-Type`, which contains the \
    boundary of the attempt. In a step with `decompress`, it sets `Accept-Encoding`. Remove the header.
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

  static let signedRequest = Explanation(
    "A request that cannot be signed",
    """
    `sign` sets `Authorization`, `X-Amz-Date`, `X-Amz-Content-Sha256` and `X-Amz-Security-Token` in each attempt, \
    so neither the request nor its session or token can set them. A `multipart_form` transfer cannot be signed. \
    Remove the header or the token, or write `sign: none` to send the request without a signature.
    """,
    in: """
      version: 1
      name: photos
      sessions: { s3: { sign: { aws_v4: { region: eu-central-1 } } } }
      requests:
        notify:
          session: s3
          request: { url: https://photos.s3.eu-central-1.amazonaws.com/done, headers: { ◊ } }
      """, wrong: "X-Amz-Date: 20260302T101500Z", right: "Accept: application/xml")

  static let authenticatedRequest = Explanation(
    "A request with two kinds of credentials",
    """
    `auth` responds to the challenges of a server with the field `Authorization`. Therefore, the request, \
    its session and its token cannot set that field, and the request cannot be signed. Remove one of the \
    two, or write `auth: none` next to the request. A token and `auth` can be used together if another field \
    carries the token.
    """,
    in: """
      version: 1
      name: photos
      sessions: { quick: { auth: { user: ferry } } }
      requests:
        notify:
          session: quick
          request: { url: https://example.com/done, headers: { ◊ } }
      """, wrong: "Authorization: Basic ZmVycnk6", right: "Accept: application/json")

  static let duplicateHeader = Explanation(
    "A duplicate header",
    """
    Names of header fields are case-insensitive, so these two are the same field. Remove one of them. If a \
    field takes several values, you can usually write them in one field, separated by commas.
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
    "A header value with a line break or control character",
    """
    A line break in a header value would start another header or another request (header \
    injection). ferry rejects line breaks and other control characters except tabs in the manifest, and checks the value \
    again when it inserts a captured value. Write the value on one line, without control characters; a block scalar \
    (`|` or `>`) ends with a line break.
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
    "An invalid HTTP method",
    """
    HTTP methods are case-sensitive and written in uppercase (RFC 9110 §9.1). All methods are allowed, \
    including those of WebDAV, except `CONNECT` and `TRACE`.
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
    "A number that JSON cannot represent",
    """
    JSON cannot represent infinity or NaN, and servers disagree on how to read an integer that does \
    not fit in 64 bits. Put the value in quotes to send it as a string, or change it.
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
    The key selects a source, as `status: true` selects the status code. `false` would have no \
    meaning. To use another source, replace the key.
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
    "A step that names a token",
    """
    The steps of an upload use the token that the upload names. A step can only omit it, with `token: none`, \
    for example for a presigned URL on another host. Set the token on the upload, or remove the key from \
    the step.
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

  static let invalidMediaType = Explanation(
    "An invalid media type",
    """
    The `content_type` of a part of a form is a media type (RFC 9110 §8.3.1): a type, a slash and a subtype, in \
    printable ASCII characters, for example `image/jpeg` or `text/plain; charset=utf-8`. A part of unknown \
    type is `application/octet-stream`.
    """,
    in: """
      version: 1
      name: photos
      sessions: { quick: {} }
      uploads:
        photos:
          session: quick
          files: { root: Pictures }
          transfer:
            protocol: multipart_form
            form: { file: { field: photo, content_type: ◊ } }
            request: { url: https://example.com/upload }
      """, wrong: "jpeg", right: "image/jpeg")
}
