import FerryJournal
import FerryManifest
import FerryPlan
import Foundation
import Testing

@testable import FerryEngine

@Suite struct `The list of a download batch` {
  private let folder: TestFolder

  init() throws { folder = try TestFolder() }

  /// Reads a list whose path is `list`.
  private func read(
    _ text: String, json: String? = "", saveTo: String = "photos/", fields: [String] = [],
    size: Template? = DownloadItems.field(.size), sha256: Template? = DownloadItems.field(.sha256),
    shard: Shard? = nil
  ) throws -> (listing: Listing, lister: FileLister) {
    try text.write(toFile: folder.path + "/list", atomically: true, encoding: .utf8)
    let target = Template([.literal(saveTo), .reference(.item("name"))])
    let items = DownloadItems(.file("list", json: json), saveTo: target, size: size, sha256: sha256)
    var lister = try FileLister(
      FileSelection(root: ".", source: .items(items)), baseFolder: folder.path, home: nil)
    lister.requestFields = fields
    lister.filter = shard.map { ShardFilter($0, upload: "pictures") }
    return (try lister.list { [] }, lister)
  }

  private func paths(_ listing: Listing) -> [String] {
    (0..<listing.files.count).map { String(decoding: listing.files.path($0), as: UTF8.self) }
  }

  private func problems(_ listing: Listing) -> [String] {
    listing.problems.map { "\(String(decoding: $0.path, as: UTF8.self)): \($0.message)" }
  }

  @Test func `has one URL per line, whose last segment is the name`() throws {
    let text = """
      # a comment
      https://example.com/a%20b.iso?version=1\r
        https://example.com/c/d.iso

      https://example.com/
      """
    let (listing, _) = try read(text, json: nil, size: nil, sha256: nil)
    #expect(paths(listing) == ["photos/a b.iso", "photos/d.iso"])
    #expect(problems(listing) == ["line 5: it has no 'name'"])
  }

  @Test(arguments: ["", "# a comment\r\n"]) func `may begin with a byte order mark`(_ comment: String) throws
  {
    let text = "\u{FEFF}\(comment)https://example.com/a\r\nhttps://example.com/b\r\n"
    let (listing, _) = try read(text, json: nil, size: nil, sha256: nil)
    #expect(paths(listing) == ["photos/a", "photos/b"])
    #expect(problems(listing) == [])
  }

  @Test func `is not read any further after the run was stopped`() throws {
    let target = Template([.literal("photos/"), .reference(.item("name"))])
    let items = DownloadItems(.file("list", json: ""), saveTo: target, size: nil, sha256: nil)
    var reader = ItemListReader(items, fields: [], stateFolders: [], reserved: ReservedPaths(), filter: nil) {
      true
    }
    let urls = (0..<1_000).map { "\"https://example.com/\($0)\"" }.joined(separator: ",")
    let (listing, _) = try reader.read(Array("[\(urls)]".utf8))
    #expect(listing.files.count == 0)
  }

  /// A server could otherwise fill the memory with a list of many short lines.
  @Test func `has at most a million lines and 64 MiB if a fetch stores it`() throws {
    let target = Template([.literal("photos/"), .reference(.item("name"))])
    let items = DownloadItems(.file("list", json: nil), saveTo: target, size: nil, sha256: nil)
    var lister = try FileLister(
      FileSelection(root: ".", source: .items(items)), baseFolder: folder.path, home: nil)
    func failure(_ text: String) throws -> String? {
      try text.write(toFile: folder.path + "/list", atomically: true, encoding: .utf8)
      do throws(ListingFailure) {
        _ = try lister.lines(of: "list")
        return nil
      } catch { return error.message }
    }
    let lines = String(repeating: "\n", count: 1_000_000)
    #expect(try failure(lines + "\n") == nil)
    lister.listAuthor = .server
    #expect(try failure(lines) == nil)
    #expect(try failure(lines + "\n")?.hasSuffix("it contains more than 1000000 lines") == true)
    #expect(truncate(folder.path + "/list", (64 << 20) + 1) == 0)
    #expect(throws: ListingFailure.self) { try lister.lines(of: "list") }
  }

  @Test func `counts as a server's if a fetch or a download batch of the manifest stores it`() throws {
    let manifest = """
      version: 1
      name: m
      sessions: { s: {} }
      fetches: { catalog: { session: s, request: { url: "https://a.example/" }, save_to: ./lists/catalog } }
      downloads:
        fetched: { session: s, items: { from: catalog, save_to: "a/${item.name}" } }
        named: { session: s, items: { file: lists/x/../catalog, save_to: "b/${item.name}" } }
        own: { session: s, items: { file: lists/own, save_to: "c/${item.name}" } }
      uploads:
        kept:
          session: s
          files: { root: ., list: a/list }
          transfer: { request: { url: "https://a.example/${file.path}" } }
        listed:
          session: s
          files: { root: ., list: lists/catalog }
          transfer: { request: { url: "https://a.example/${file.path}" } }
      """
    let path = folder.path + "/m.yaml"
    try manifest.write(toFile: path, atomically: true, encoding: .utf8)
    let reading = try Job.read(path: path, variables: [:], environment: [:])
    let job = try #require(reading.job, "\(reading.diagnostics)")
    let listers = try job.listers(
      environment: [:], state: StateDirectory(explicit: folder.path + "/state", environment: [:]))
    let servers = job.plan.nodes.indices.filter { listers[$0]?.listAuthor == .server }
    #expect(servers.map { job.plan.nodes[$0].name }.sorted() == ["fetched", "kept", "listed", "named"])
    #expect(listers.count == 5)
  }

  /// A server can write a line of many megabytes, or such a string.
  @Test func `has no URL of more than 65536 bytes`() throws {
    let beginning = "https://example.com/a?"
    let longest = beginning + String(repeating: "x", count: 65_536 - beginning.utf8.count)
    let (lines, _) = try read("\(longest)\n\(longest)x\n", json: nil, size: nil, sha256: nil)
    #expect(paths(lines) == ["photos/a"])
    #expect(problems(lines) == ["line 2: its URL is longer than 65536 bytes"])
    let (elements, _) = try read("[\"\(longest)x\", \"\(longest)\"]")
    #expect(paths(elements) == ["photos/a"])
    #expect(problems(elements) == ["/0: its URL is longer than 65536 bytes"])
  }

  @Test func `has the members of JSON objects, with sizes and digests`() throws {
    let digest = String(repeating: "aB", count: 32)
    let (listing, lister) = try read(
      """
      [{"name": "b", "url": "https://example.com/b", "size": 12, "sha256": "\(digest)", "id": 123456789012345678901},
       {"name": "c/a", "url": "https://example.com/a", "size": null, "id": true},
       "https://example.com/d"]
      """, fields: ["id", "url"])
    #expect(paths(listing) == ["photos/b", "photos/c/a", "photos/d"])
    #expect(listing.files.sizes == [12, 0, 0])
    #expect(problems(listing) == [])
    #expect(
      lister.listed?.values(of: "photos/b".utf8)
        == ["id": "123456789012345678901", "url": "https://example.com/b"])
    #expect(lister.listed?.values(of: "photos/c/a".utf8) == ["id": "true", "url": "https://example.com/a"])
    #expect(lister.listed?.values(of: "photos/x".utf8) == nil)
  }

  @Test(arguments: [
    ("../a", "the path '../a' contains '.' or '..'"),
    ("a/../../b", "the path 'a/../../b' contains '.' or '..'"),
    ("./a", "the path './a' contains '.' or '..'"),
    ("/etc/passwd", "the path '/etc/passwd' has an empty name"),
    ("a//b", "the path 'a//b' has an empty name"),
    ("a/", "the path 'a/' has an empty name"),
    ("", "the path '' has an empty name"),
    ("a\\u0000b", "contains a control character"),
    ("a\\u001bb", "contains a control character"),
    (".a.ferry-part-1", "'.a.ferry-part-1' is a name of ferry's temporary files"),
    (String(repeating: "x", count: 256), "a name in the path is longer than 255 bytes"),
    (
      String(repeating: String(repeating: "x", count: 250) + "/", count: 17) + "x",
      "the path is longer than 4095 bytes"
    ),
    (String(repeating: "x/", count: 101) + "x", "the path has more than 100 folders"),
  ])
  func `cannot name a file outside its folder`(_ name: String, _ problem: String) throws {
    let (listing, _) = try read(#"[{"name": "\#(name)", "url": "https://example.com/"}]"#)
    #expect(paths(listing) == [])
    #expect(problems(listing).count == 1 && problems(listing)[0].contains(problem), "\(problems(listing))")
  }

  /// Each folder in a path is compared with the files of all items.
  @Test func `with many paths of many folders is read in a short time`() throws {
    let folders = String(repeating: "x/", count: 1_900)
    let items = (0..<2_000).map { #"{"name": "\#(folders)\#($0)", "url": "https://example.com/"}"# }
    var count = 0
    let time = try ThreadTime.measure {
      count = try read("[\(items.joined(separator: ","))]").listing.problems.count
    }
    #expect(count == 2_000 && time < .seconds(15), "\(time)")
  }

  @Test func `cannot replace itself or the state folder`() throws {
    let text = #"[{"name": "list", "url": "https://example.com/"}]"#
    #expect(problems(try read(text, saveTo: "./").listing) == ["/0: its file is the list itself"])
    folder.file("photos/state/ferry.db")
    var (_, lister) = try read(#"[{"name": "state/ferry.db", "url": "https://example.com/"}]"#)
    lister.stateFolder = StateFolder(path: folder.path + "/photos/state")
    #expect(problems(try lister.list { [] }) == ["/0: its file is in ferry's state folder"])
  }

  /// A link in the state folder may lead to another disk.
  @Test func `cannot replace the state of shards to which a link leads`() throws {
    folder.file("state/ferry.db")
    folder.file("photos/parts/m/1-of-2/ferry.db")
    folder.link("state/shards", to: "../photos/parts")
    var (_, lister) = try read(#"[{"name": "parts/m/1-of-2/ferry.db", "url": "https://example.com/"}]"#)
    lister.stateFolder = StateFolder(path: folder.path + "/state")
    #expect(problems(try lister.list { [] }) == ["/0: its file is in ferry's state folder"])
  }

  @Test func `cannot replace files that other nodes read or store, regardless of case`() throws {
    let names = ["list.json", "LIST.json", "list.json/a", "Meta", "a/list.json", "list.jso", "meta/a"]
    let items = names.map { #"{"name": "\#($0)", "url": "https://example.com/"}"# }
    var (_, lister) = try read("[\(items.joined(separator: ", "))]")
    lister.reserved = ReservedPaths(
      files: [ItemListReader.key("photos/List.json".utf8)], folders: [ItemListReader.key("photos/meta".utf8)])
    let listing = try lister.list { [] }
    #expect(paths(listing) == ["photos/a/list.json", "photos/list.jso", "photos/meta/a"])
    #expect(
      problems(listing)
        == (0...2).map {
          "/\($0): its file is one that the run reads, the document of a fetch or of an item in a manifest, or a link to one"
        }
        + ["/3: its file is a folder into which a fetch or a download batch stores documents"])
  }

  @Test func `refuses both of two items with one file, and lists the same item once`() throws {
    let (listing, _) = try read(
      """
      [{"name": "a", "url": "https://example.com/1"}, {"name": "a", "url": "https://example.com/2"},
       {"name": "B", "url": "https://example.com/3"}, {"name": "b", "url": "https://example.com/3"},
       {"name": "c", "url": "https://example.com/4"}, {"name": "c/d", "url": "https://example.com/5"},
       {"name": "e", "url": "https://example.com/6"}, {"name": "e", "url": "https://example.com/6"}]
      """)
    #expect(paths(listing) == ["photos/e"])
    #expect(
      problems(listing) == [
        "/0: its file photos/a is also the file of /1; neither is downloaded",
        "/1: its file photos/a is also the file of /0; neither is downloaded",
        "/2: its file photos/B differs only in case from that of /3; neither is downloaded",
        "/3: its file photos/b differs only in case from that of /2; neither is downloaded",
        "/4: its file photos/c is also a folder of /5; neither is downloaded",
        "/5: its folder photos/c is also the file of /4; neither is downloaded",
      ])
  }

  @Test func `finds files that are folders of deeply nested items`() throws {
    // Paths with almost as many folders as are allowed, and two items whose folders are files.
    let deep = (0..<20).map { "\($0)/" + String(repeating: "x/", count: 95) + "y" }
    let names = deep + ["7/x", "Ä", "a\u{308}/b"]
    let elements = names.map { #"{"name": "\#($0)", "url": "https://example.com/"}"# }
    let (listing, _) = try read("[\(elements.joined(separator: ","))]")
    let found = problems(listing)
    #expect(found.count == 4 && paths(listing).count == 19, "\(found.map { $0.suffix(90) })")
  }

  /// Two items are in conflict even if their paths belong to different shards.
  @Test func `is divided into shards that together have the same items and problems`() throws {
    var elements = ["1", "true", "null", #"{"name": "../x", "url": "u"}"#]
    for number in 0..<20 {
      for name in ["\(number)", "a\(number)", "A\(number)", "b\(number)", "b\(number)/c"] {
        elements.append(#"{"name": "\#(name)", "url": "https://example.com/\#(name)"}"#)
      }
    }
    let text = "[" + elements.joined(separator: ",") + "]"
    let whole = try read(text).listing
    #expect(whole.files.count == 20 && whole.problems.count == 4 + 80)
    let shards = try (1...4).map { try read(text, shard: Shard($0, of: 4)).listing }
    #expect(shards.flatMap(paths).sorted() == paths(whole).sorted())
    #expect(shards.flatMap(problems).sorted() == problems(whole).sorted())
    #expect(shards.allSatisfy { $0.files.count < 20 && $0.problems.count < 84 })
  }

  @Test func `reports elements that are not items`() throws {
    let (listing, _) = try read(
      """
      [1, {"url": "https://example.com/"}, {"name": "a", "url": "https://example.com/", "size": -1},
       {"name": "a", "url": "https://example.com/", "sha256": "12"}, {"name": ["a"], "url": "https://example.com/"}]
      """)
    #expect(paths(listing) == [])
    #expect(
      problems(listing) == [
        "/0: it is neither a URL nor an object", "/1: it has no 'name'",
        "/2: its size is not a number of bytes",
        "/3: its SHA-256 digest does not consist of 64 hexadecimal digits",
        "/4: its 'name' is an array or an object",
      ])
  }

  @Test(arguments: [
    ("{", "it is not JSON"), ("{}", "the document is not an array"),
    (String(repeating: "[", count: 300), "it is nested more than 256 levels deep"),
  ])
  func `that is not an array cannot be read`(_ text: String, _ problem: String) throws {
    #expect(throws: ListingFailure(message: "cannot read the list list: \(problem)")) { try read(text) }
  }

  @Test func `changes the version of an item with its URL, or with its digest if it has one`() throws {
    func version(_ url: String, _ digest: Character?) throws -> Int64 {
      let sha256 = digest.map { #", "sha256": "\#(String(repeating: $0, count: 64))""# } ?? ""
      let listing = try read(#"[{"name": "a", "url": "https://example.com/\#(url)"\#(sha256)}]"#).listing
      return try #require(listing.files.modified.first)
    }
    #expect(try version("1", nil) == version("1", nil))
    #expect(try version("1", nil) != version("2", nil))
    #expect(try version("1?signature=a", "1") == version("1?signature=b", "1"))
    #expect(try version("1", "1") != version("1", "2"))
  }

  @Test func `determines the server of each item`() throws {
    let (listing, lister) = try read(
      #"[{"name": "a", "url": "https://a.example.com/"}, {"name": "b", "url": "https://b.example.com/"}]"#)
    var table = ItemTable()
    for file in 0..<listing.files.count {
      table.append(path: listing.files.path(file), size: 0, modified: 0, row: Int64(file + 1), entry: .new)
    }
    lister.listed?.setOrigins(of: &table)
    #expect((0..<2).map { table.origin(of: $0)?.host } == ["a.example.com", "b.example.com"])
  }
}
