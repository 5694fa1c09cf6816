extension BadManifest {
  private static let noOrigin =
    "write a scheme and a host, such as https://api.example.com or https://*.example.com:8443, without a path"

  /// F0313, F0318 to F0323, and F0326: URLs, header fields, methods and bodies.
  static let requests: [BadManifest] = [
    BadManifest(
      "a URL without its beginning", in: .request, "request: { url: 1️⃣example.com/done }",
      .error("1️⃣", .invalidURL, "a URL must begin with http:// or https://", help: "put 'https://' before it")),
    BadManifest(
      "a URL of another protocol", in: .request, "request: { url: 1️⃣ftp://example.com/done }",
      .error(
        "1️⃣", .invalidURL, "a URL must begin with http:// or https://",
        help: "ferry supports only HTTP; write the server's HTTP URL")),
    BadManifest(
      "a URL with a space", in: .request, "request: { url: 1️⃣https://example.com/all done }",
      .error(
        "1️⃣", .invalidURL, "a URL cannot contain a space or control character",
        help: "write %20 for a space")),
    BadManifest(
      "a URL without a host", in: .request, "request: { url: 1️⃣https:///done }",
      .error("1️⃣", .invalidURL, "this URL has no host", help: "write the host after https://")),
    BadManifest(
      "a URL that is empty", in: .request, "request: { url: 1️⃣'' }",
      .error("1️⃣", .invalidURL, "this URL is empty", help: "write a URL that begins with https://")),
    BadManifest(
      "a token's origins with a path and without a scheme",
      """
      tokens:
        login:
          session: quick
          request: { url: https://example.com/token }
          capture: { key: { json: /key } }
          apply:
            { header: X-Key, value: "${token.key}", origins: [1️⃣https://example.com/api, 2️⃣"*.example.com"] }
      requests: { ping: { session: quick, token: login, request: { url: https://example.com/ } } }
      """,
      .error("1️⃣", .invalidURL, "this is not an origin", help: noOrigin),
      .error("2️⃣", .invalidURL, "this is not an origin", help: noOrigin)),
    BadManifest(
      "a header's name with a colon", in: .http, "headers: { 1️⃣\"Accept:\": text/plain }",
      .error(
        "1️⃣", .invalidHeaderName, "'Accept:' is not a valid header name",
        help: "use letters, digits and '-' (RFC 9110 §5.1)")),
    BadManifest(
      "headers that ferry sets", in: .http,
      "headers: { 1️⃣Host: a, 2️⃣content-length: 5, 3️⃣Transfer-Encoding: chunked }",
      .error("1️⃣", .ownHeader, "'Host' is set by ferry", help: "remove it; ferry derives it from the URL"),
      .error(
        "2️⃣", .ownHeader, "'content-length' is set by ferry",
        help: "remove it; ferry determines the length of the body"),
      .error(
        "3️⃣", .ownHeader, "'Transfer-Encoding' is set by ferry",
        help: "remove it; the connection determines how a body is framed")),
    BadManifest(
      "one header in two spellings", in: .http, "headers: { 2️⃣Accept: a/b, 1️⃣accept: c/d }",
      .error(
        "1️⃣", .duplicateHeader, "duplicate header 'accept'",
        help: "header names are case-insensitive; remove one of the two",
        notes: [("2️⃣", "first defined here")])),
    BadManifest(
      "a header of two lines", in: .http, "headers:\n  X-Note: 1️⃣|\n    one\n    two\n",
      .error(
        "1️⃣", .invalidHeaderValue, "a header value cannot contain a line break or control character",
        help: "write it on one line")),
    BadManifest(
      "a line end that a variable brings into a header", in: .http, "headers: { X-Note: 1️⃣\"${env.NOTE}\" }",
      .error(
        "1️⃣", .invalidHeaderValue, "a header value cannot contain a line break or control character",
        help: "write it on one line"), environment: ["NOTE": "a\r\nX-Admin: yes"]),
    BadManifest(
      "a method in small letters", in: .http, "method: 1️⃣post",
      .error("1️⃣", .invalidMethod, "HTTP methods are uppercase", help: "write 'POST'")),
    BadManifest(
      "a method of two words", in: .http, "method: 1️⃣POST /done",
      .error(
        "1️⃣", .invalidMethod, "an HTTP method is a single word",
        help: "use a method such as GET, POST or PUT")),
    BadManifest(
      "a method that opens a tunnel", in: .http, "method: 1️⃣CONNECT",
      .error(
        "1️⃣", .invalidMethod, "the method CONNECT cannot be used in a manifest",
        help: "use a method such as GET, POST or PUT")),
    BadManifest(
      "numbers that JSON cannot carry", in: .http,
      "json: [1️⃣.nan, 2️⃣-.inf, 3️⃣12345678901234567890]",
      .error(
        "1️⃣", .numberNotInJSON, "JSON cannot represent the number .nan",
        help: "quote it to send it as a string"),
      .error(
        "2️⃣", .numberNotInJSON, "JSON cannot represent the number -.inf",
        help: "quote it to send it as a string"),
      .error(
        "3️⃣", .numberNotInJSON, "the number 12345678901234567890 does not fit in 64 bits",
        help: "quote it to send it as a string")),
    BadManifest(
      "a content coding in a step that determines it", in: .request,
      "decompress: true\nrequest: { url: https://example.com/, headers: { 1️⃣accept-encoding: br } }",
      .error(
        "1️⃣", .ownHeader, "'accept-encoding' is set by ferry in a step with 'decompress'",
        help: "remove it, or remove 'decompress' to receive the response as the server sends it")),
    BadManifest(
      "a Content-Type of a form", in: .upload,
      """
      files: {}
      transfer:
        protocol: multipart_form
        request: { url: https://example.com/, headers: { Accept: a/b, 1️⃣content-type: multipart/form-data } }
      """,
      .error(
        "1️⃣", .ownHeader, "'content-type' is set by ferry in a 'multipart_form' transfer",
        help:
          "remove it; it contains the boundary, which differs in every attempt. The type of the file is "
          + "'form: { file: { content_type: … } }'")),
    BadManifest(
      "names of a form's fields that are empty or have a control character", in: .upload,
      """
      files: {}
      transfer:
        protocol: multipart_form
        form:
          fields: { 1️⃣"": a, 2️⃣"b\\n": b }
          file: { field: 3️⃣"", name: 4️⃣"" }
          fields_after: [{ name: 5️⃣"", value: "" }, { name: 6️⃣"\\a", value: c }]
        request: { url: https://example.com/ }
      """,
      .error("1️⃣", .emptyText, "the name of this field is empty", help: "specify a field name"),
      .error(
        "2️⃣", .controlCharacter, "the name of this field contains a control character", help: "remove it"),
      .error("3️⃣", .emptyText, "'field' is empty", help: "specify a field name"),
      .error("4️⃣", .emptyText, "the file name is empty", help: "specify a file name, or remove the key"),
      .error("5️⃣", .emptyText, "'name' is empty", help: "specify a field name"),
      .error("6️⃣", .controlCharacter, "'name' contains a control character", help: "remove it")),
    BadManifest(
      "fields of a form that are no fields", in: .upload,
      """
      files: {}
      transfer:
        protocol: multipart_form
        form: { fields: 1️⃣title, fields_after: [2️⃣title, { name: a, value: b, 3️⃣title: c }] }
        request: { url: https://example.com/ }
      """,
      .error(
        "1️⃣", .wrongType, "'fields' must be a mapping of fields, or a list of them, found the string 'title'",
        help: "for example 'fields: { title: \"${file.stem}\" }'"),
      .error(
        "2️⃣", .wrongType,
        "'fields_after' must be a mapping with keys such as 'name', 'value', 'content_type', found the string 'title'",
        help: "for example 'fields_after: { name: title, value: \"${file.stem}\" }'"),
      .error(
        "3️⃣", .unknownKey, "unknown key 'title'", help: "valid keys are name, value, content_type")),
    BadManifest(
      "media types that are none", in: .upload,
      """
      files: {}
      transfer:
        protocol: multipart_form
        form:
          fields: [{ name: a, value: a, content_type: 1️⃣"text/plain\\r\\nX: y" }]
          file: { content_type: 2️⃣jpeg }
        request: { url: https://example.com/ }
      """,
      .error(
        "1️⃣", .invalidMediaType, "a media type consists of printable ASCII characters",
        help: "write a type such as image/jpeg"),
      .error(
        "2️⃣", .invalidMediaType, "a media type consists of a type, a slash and a subtype",
        help: "write a type such as image/jpeg")),
    BadManifest(
      "header fields of a signature", in: .nothing,
      """
      version: 1
      name: photos
      secrets: { key: { env: KEY } }
      sessions: { s: { sign: { aws_v4: {} }, headers: { 1️⃣X-Amz-Date: now } }, plain: {} }
      tokens:
        login:
          session: plain
          request: { url: https://example.com/ }
          capture: { t: { json: /t } }
          apply: { header: 2️⃣Authorization, value: "Bearer ${token.t}" }
      uploads:
        u:
          session: s
          token: login
          files: {}
          allocate: { request: { url: https://example.com/ }, sign: none }
          transfer:
            protocol: multipart_form
            request: 3️⃣{ url: https://example.com/ }
      requests:
        r:
          session: plain
          request: { url: https://example.com/, headers: { 4️⃣authorization: "${secrets.key}" } }
          sign: { aws_v4: {} }
        plain: { session: s, request: { url: https://example.com/, headers: { X-Amz-Date: now } }, sign: none }
      """,
      .error(
        "1️⃣", .signedRequest, "the header 'X-Amz-Date' is set by 'sign'",
        help: "remove it, or write 'sign: none' next to the request"),
      .error(
        "2️⃣", .signedRequest, "the header 'Authorization' is set by 'sign'",
        help:
          "remove 'token: login' from the signed requests, or add 'sign: none' to them"),
      .error(
        "3️⃣", .signedRequest, "a 'multipart_form' transfer cannot be signed",
        help: "write 'sign: none' in 'transfer'"),
      .error(
        "4️⃣", .signedRequest, "the header 'authorization' is set by 'sign'",
        help: "remove it, or write 'sign: none' next to the request")),
    BadManifest(
      "two kinds of credentials", in: .nothing,
      """
      version: 1
      name: photos
      secrets: { key: { env: KEY } }
      sessions:
        s: { auth: { user: u, password: "${secrets.key}" }, headers: { 1️⃣Authorization: "${secrets.key}" } }
        signed: { sign: { aws_v4: {} } }
      tokens:
        login:
          session: signed
          request: { url: https://example.com/ }
          capture: { t: { json: /t } }
          apply: { header: 2️⃣Authorization, value: "Bearer ${token.t}" }
      requests:
        a: { session: s, token: login, request: { url: https://example.com/ } }
        b: { session: signed, request: 3️⃣{ url: https://example.com/ }, auth: { netrc: ~/.netrc } }
        c: { session: s, request: { url: https://example.com/ }, auth: none }
      """,
      .error(
        "1️⃣", .authenticatedRequest, "the header 'Authorization' is set by 'auth'",
        help: "remove one of the two, or write 'auth: none' next to the request"),
      .error(
        "2️⃣", .authenticatedRequest, "the header 'Authorization' is set by 'auth'",
        help: "remove one of the two, or write 'auth: none' next to the request"),
      .error(
        "3️⃣", .authenticatedRequest, "a signed request cannot have 'auth'",
        help: "remove one of the two, or write 'auth: none' next to the request")),
    BadManifest(
      "credentials without what they need", in: .nothing,
      """
      version: 1
      name: photos
      sessions:
        a: { 1️⃣auth: {} }
        b: { auth: { scheme: negotiate } }
        c: { auth: { netrc: n, 2️⃣password: p } }
        d: { auth: { 4️⃣netrc: n, 3️⃣user: u } }
        e: { auth: { scheme: 5️⃣bearer, user: u } }
      """,
      .error(
        "1️⃣", .missingAlternative, "'auth' requires 'user' or 'netrc'",
        help: "add 'user: …' and 'password: …', or 'netrc: ~/.netrc'"),
      .error(
        "2️⃣", .keyWithoutOther, "'password' is valid only with 'user'",
        help: "add 'user:', or remove 'password'"),
      .error(
        "3️⃣", .excludingKeys, "'user' and 'netrc' are mutually exclusive", help: "keep one of them",
        notes: [("4️⃣", "'netrc' is set here")]),
      .error(
        "5️⃣", .unknownWord, "'scheme' must be basic, digest, ntlm, negotiate or any, found 'bearer'",
        help: "for example 'scheme: digest'")),
    BadManifest(
      "connection settings", in: .nothing,
      """
      version: 1
      name: photos
      sessions:
        a: { resolve: [1️⃣h:443, 2️⃣"h:0:192.0.2.1", 3️⃣"h:443:192.0.2.1/8"] }
        b: { minimum_speed: 4️⃣1kB }
        c: { minimum_speed: 5️⃣1kB/10ms }
        d: { proxy: 6️⃣http://proxy.example.com }
        e: { proxy: { url: http://p, 7️⃣password: p } }
        f: { 9️⃣unix_socket: s, 8️⃣proxy: none }
      """,
      .error(
        "1️⃣", .invalidName, "this is not a host, a port and an address",
        help:
          "write HOST:PORT:ADDRESS, such as files.example.com:443:192.0.2.7, with an IPv6 address in brackets"
      ),
      .error(
        "2️⃣", .invalidName, "this is not a host, a port and an address",
        help:
          "write HOST:PORT:ADDRESS, such as files.example.com:443:192.0.2.7, with an IPv6 address in brackets"
      ),
      .error(
        "3️⃣", .invalidName, "this is not a host, a port and an address",
        help:
          "write HOST:PORT:ADDRESS, such as files.example.com:443:192.0.2.7, with an IPv6 address in brackets"
      ),
      .error(
        "4️⃣", .malformedQuantity, "this is not a size and a duration of at least 1s",
        help: "write the bytes that must be transferred in a period, such as 1kB/30s"),
      .error(
        "5️⃣", .malformedQuantity, "this is not a size and a duration of at least 1s",
        help: "write the bytes that must be transferred in a period, such as 1kB/30s"),
      .error(
        "6️⃣", .wrongType,
        "'proxy' must be a mapping with keys such as 'url', 'user', 'password', found the string 'http://proxy.example.com'",
        help: "for example 'proxy: { url: http://proxy.example.com:3128 }'"),
      .error(
        "7️⃣", .keyWithoutOther, "'password' is valid only with 'user'",
        help: "add 'user:', or remove 'password'"),
      .error(
        "8️⃣", .excludingKeys, "'proxy' and 'unix_socket' are mutually exclusive", help: "keep one of them",
        notes: [("9️⃣", "'unix_socket' is set here")])),
    BadManifest(
      "TLS settings", in: .nothing,
      """
      version: 1
      name: photos
      sessions:
        a: { tls: { 1️⃣key: k, 2️⃣key_password: p, minimum: 3️⃣1.1 } }
        b: { tls: { pinned_public_key: 4️⃣sha1//abc } }
        c: { tls: { pinned_public_key: 5️⃣"sha256//AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=;" } }
        d: { tls: { ca_file: 6️⃣"" } }
      """,
      .error(
        "1️⃣", .keyWithoutOther, "'key' is valid only with 'certificate'",
        help: "add 'certificate:', or remove 'key'"),
      .error(
        "2️⃣", .keyWithoutOther, "'key_password' is valid only with 'certificate'",
        help: "add 'certificate:', or remove 'key_password'"),
      .error(
        "3️⃣", .unknownWord, "'minimum' must be 1.2 or 1.3, found '1.1'",
        help: "did you mean '1.2'?"),
      .error(
        "4️⃣", .invalidName, "this is not a list of digests of public keys",
        help: "write 'sha256//' and the Base64 of the key's SHA-256; separate several keys with ';'"),
      .error(
        "5️⃣", .invalidName, "this is not a list of digests of public keys",
        help: "write 'sha256//' and the Base64 of the key's SHA-256; separate several keys with ';'"),
      .error("6️⃣", .emptyText, "'ca_file' is empty", help: "specify a path")),
    BadManifest(
      "signatures without what they need", in: .nothing,
      """
      version: 1
      name: photos
      sessions:
        a: { sign: { aws_v4: { 1️⃣access_key: A } } }
        b: { sign: { aws_v4: { 6️⃣profile: p, 2️⃣access_key: A, secret_key: "${env.NOPE:-x}" } } }
        c: { sign: { aws_v4: { region: 3️⃣eu/central } } }
        d: { 4️⃣sign: {} }
        e: { sign: 5️⃣none }
      """,
      .error(
        "1️⃣", .keyWithoutOther, "'access_key' is valid only with 'secret_key'",
        help: "add 'secret_key:', or remove 'access_key'"),
      .error(
        "2️⃣", .excludingKeys, "'access_key' and 'profile' are mutually exclusive", help: "keep one of them",
        notes: [("6️⃣", "'profile' is set here")]),
      .error(
        "3️⃣", .invalidName, "this is not a valid region",
        help: "use only ASCII letters, digits, '-', '_' and '.'"),
      .error("4️⃣", .missingKey, "'sign' has no 'aws_v4'", help: "add 'aws_v4: { region: eu-central-1 }'"),
      .error(
        "5️⃣", .wrongType, "'sign' must be a mapping with keys such as 'aws_v4', found the string 'none'",
        help: "for example 'sign: { aws_v4: { region: eu-central-1 } }'")),
  ]
}
