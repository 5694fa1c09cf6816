extension FileSelection {
  static let shape = ObjectSchema<FileSelection>(
    "Files", doc: "Which files are uploaded: those that match globs, or those in a list.",
    keys: [
      Key(
        "root", \.root, .path,
        doc:
          "The folder that paths are relative to. It is relative to the manifest's folder; `~/` is the home folder.",
        example: "~/Pictures"),
      Key(
        "include", \.include, .list(.glob, atLeastOne: true),
        doc: "Globs: `*` and `?` stop at a slash, `**` does not; `[…]` and `{a,b}` choose.",
        example: "[\"**/*.jpg\"]"),
      Key(
        "exclude", \.exclude, .list(.glob), default: "none", doc: "Globs of files and folders to exclude.",
        example: "[\"**/.*\"]"),
      Key(
        "list", \.list, .path, doc: "A file with one path per line, or `-` for standard input.",
        example: "files.txt"),
      Key(
        "null", \.isNullSeparated, .boolean,
        doc: "Whether the paths in `list` end with NUL instead of a line end.",
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
