import FerryManifest
import Foundation
import Testing

@Suite struct `The reference page` {
  @Test func `is generated from the declarations`() throws {
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    try expectRecorded(ManifestReference.markdown(), at: root.appending(path: "docs/manifest.md"))
  }

  @Test func `gives the meaning of every key, and an example or its object`() {
    for object in ManifestReference.objects() {
      for key in object.keys {
        #expect(!key.doc.isEmpty, "\(object.title).\(key.name)")
        #expect(key.example != nil || !key.form.objects.isEmpty, "\(object.title).\(key.name)")
      }
    }
  }
}
