import FerryDigest

/// One self-contained HTML page: a summary, and data from which its script draws the rest. The page loads nothing, and
/// its Content-Security-Policy allows only its own script and style, by their hashes.
struct HTMLPage {
  var title: String
  var kicker: String
  /// The outcome in one sentence.
  var verdict: String
  var level: ReportVerdict.Level
  /// Facts under the verdict.
  var facts: [(name: String, value: String)] = []
  /// The most important numbers.
  var figures: [(label: String, value: String, hint: String)] = []
  /// The content for a browser without scripts.
  var text: String

  /// - Parameter data: writes the data, a JSON object, to the sink that is passed to it.
  func render(to sink: any ByteSink, data: (any ByteSink) throws -> Void) throws {
    let script = HTMLScript.text
    try sink.write(
      """
      <!DOCTYPE html>
      <html lang="en">
      <head>
      <meta charset="utf-8">
      <meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src '\(Self.hash(script))'; style-src '\(Self.hash(HTMLStyle.text))'; base-uri 'none'; form-action 'none'">
      <meta name="viewport" content="width=device-width, initial-scale=1">
      <meta name="color-scheme" content="light dark">
      <meta name="referrer" content="no-referrer">
      <title>\(HTMLText.escaped(title)): \(HTMLText.escaped(kicker))</title>
      <style>\(HTMLStyle.text)</style>
      </head>
      <body class="\(level.rawValue)">
      <main>
      <header>
      <p class="kicker">\(HTMLText.escaped(kicker))</p>
      <h1>\(HTMLText.escaped(title))</h1>
      <div class="verdict" role="status">\(icon)<p>\(HTMLText.escaped(verdict))</p></div>
      <dl class="meta">\(facts.map { "<div><dt>\(HTMLText.escaped($0.name))</dt><dd>\(HTMLText.escaped($0.value))</dd></div>" }.joined())</dl>
      </header>
      <div class="cards">\(figures.map(Self.figure).joined())</div>
      <div id="content"></div>
      <noscript><section class="card"><pre>\(HTMLText.escaped(text))</pre></section></noscript>
      <footer><p>Made by ferry. This file loads nothing from the network.</p></footer>
      </main>
      <script type="application/json" id="data">
      """)
    try data(ScriptDataSink(sink))
    try sink.write("</script>\n<script>\(script)</script>\n</body>\n</html>\n")
  }

  private var icon: String {
    let path =
      switch level {
      case .good: "M5 12.5l4.5 4.5L19 7.5"
      case .waiting: "M12 6v6l4 2.5"
      case .bad: "M7 7l10 10M17 7L7 17"
      }
    return """
      <svg width="24" height="24" viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="2.4" \
      stroke-linecap="round" stroke-linejoin="round" aria-hidden="true"><path d="\(path)"/></svg>
      """
  }

  private static func figure(_ figure: (label: String, value: String, hint: String)) -> String {
    "<div class=\"figure\"><div class=\"label\">\(HTMLText.escaped(figure.label))</div>"
      + "<div class=\"value\">\(HTMLText.escaped(figure.value))</div>"
      + "<div class=\"hint\">\(HTMLText.escaped(figure.hint))</div></div>"
  }

  private static func hash(_ text: String) -> String {
    "sha256-" + Base64.encode(SHA256.hash(Array(text.utf8)))
  }
}
