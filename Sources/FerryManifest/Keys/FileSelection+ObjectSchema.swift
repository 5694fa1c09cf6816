extension FileSelection {
  static let shape = ObjectSchema<FileSelection>(
    "Files", doc: "The files to upload, selected by globs or by a list.",
    keys: [
      Key(
        "root", \.root, .path,
        doc:
          "The base folder of all paths. It is relative to the manifest's folder; `~/` is the home directory.",
        example: "~/Pictures"),
      Key(
        "include", \.include, .list(.glob, atLeastOne: true),
        doc:
          "Globs of files to upload. `*` and `?` do not match a slash, but `**` does; `[…]` and `{a,b}` match alternatives.",
        example: "[\"**/*.jpg\"]"),
      Key(
        "exclude", \.exclude, .list(.glob), default: "none", doc: "Globs of files and folders to exclude.",
        example: "[\"**/.*\"]"),
      Key(
        "list", \.list, .path,
        doc: """
          A file that lists one path per line, or `-` for standard input. A list in a file is read when the nodes that \
          the upload needs have ended, so that a fetch can write it.
          """,
        example: "files.txt"),
      Key(
        "null", \.isNullSeparated, .boolean,
        doc: "Whether the paths in `list` are terminated by NUL instead of a line break.",
        example: "true"),
    ],
    rules: [.atMostOne(["list", "include"]), .atMostOne(["list", "exclude"]), .requires("null", "list")],
    blank: { _, _ in FileSelection(root: ".", source: .globs(include: ["**"], exclude: [])) })

  private var include: [String] {
    get { if case .globs(let include, _) = source { include } else { [] } }
    set { source = .globs(include: newValue, exclude: exclude) }
  }

  private var exclude: [String] {
    get { if case .globs(_, let exclude) = source { exclude } else { [] } }
    set { source = .globs(include: include, exclude: newValue) }
  }

  private var list: String? {
    get { if case .list(let path, _) = source { path } else { nil } }
    set { if let newValue { source = .list(newValue, nullSeparated: isNullSeparated) } }
  }

  private var isNullSeparated: Bool {
    get { if case .list(_, let nullSeparated) = source { nullSeparated } else { false } }
    set { if let list { source = .list(list, nullSeparated: newValue) } }
  }
}
