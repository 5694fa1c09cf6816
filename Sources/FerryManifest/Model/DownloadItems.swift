/// The list of a download batch, and how its elements determine the files to download.
package struct DownloadItems: Hashable, Codable, Sendable {
  package var source: Source
  /// The URL of an item.
  package var url: Template
  /// The file that an item's document replaces, relative to the manifest's folder. It refers only to `${item.…}`.
  package var saveTo: Template
  /// The size that an item's document must have; `nil` for any size.
  package var size: Template?
  /// The SHA-256 digest that an item's document must have; `nil` for any content.
  package var sha256: Template?

  package enum Source: Hashable, Codable, Sendable {
    /// Items in the manifest.
    case written([Written])
    /// A file, relative to the manifest's folder: one URL per line, or JSON if there is a pointer to the array.
    case file(String, json: String?)
    /// The file that the named fetch stores. A plan has the file instead.
    case fetch(String, json: String?)
  }

  /// An item in the manifest.
  package struct Written: Hashable, Codable, Sendable {
    package var url: String
    package var saveTo: String?
    package var size: Int64?
    package var sha256: String?

    package init(url: String, saveTo: String? = nil, size: Int64? = nil, sha256: String? = nil) {
      self.url = url
      self.saveTo = saveTo
      self.size = size
      self.sha256 = sha256
    }
  }

  package init(
    _ source: Source, url: Template = Self.field(.url), saveTo: Template, size: Template? = nil,
    sha256: Template? = nil
  ) {
    self.source = source
    self.url = url
    self.saveTo = saveTo
    self.size = size
    self.sha256 = sha256
  }

  /// Items that are written completely in the manifest.
  package init(_ items: [Written]) {
    self.init(
      .written(items), saveTo: Self.field(.saveTo), size: Self.field(.size), sha256: Self.field(.sha256))
  }

  /// `${item.NAME}`.
  package static func field(_ name: String) -> Template { Template([.reference(.item(name))]) }

  package static func field(_ field: Field) -> Template { self.field(field.rawValue) }

  /// The fields of an element that is not a JSON object.
  package enum Field: String, CaseIterable, Sendable {
    case url
    /// The last segment of the URL's path.
    case name
    case saveTo = "save_to"
    case size
    case sha256

    /// The fields of an element that is a URL.
    package static let ofURL: [Field] = [.url, .name]
  }
}
