import FerryManifest
import FerryPlan
import Testing

@testable import FerryEngine

struct ItemValueStoreTests {
  private func capture(_ value: String) -> CapturedValue {
    CapturedValue(name: "id", value: value, isSecret: true)
  }

  private func place(_ item: Int) -> ItemRef { ItemRef(NodeID(0), item) }

  @Test func anItemsSecretsAreForgottenWithIt() {
    var values = ItemValueStore([:], secrets: [SensitiveValue("the manifest's")])
    for item in 0..<1000 {
      values.update(place(item)) { $0.allocate = [capture("allocated-\(item)")] }
      values.update(place(item)) { $0.transfer = [capture("transferred-\(item)")] }
      #expect(values.mask.mask("allocated-\(item) transferred-\(item)") == "*** ***")
      values.forget(place(item))
    }
    #expect(values.mask.count == 1)
    #expect(values.mask.mask("allocated-7, the manifest's") == "allocated-7, ***")
  }

  @Test func aSecretOfAnAllocationThatIsMadeAnewGoesWithIt() {
    var values = ItemValueStore(
      [
        place(0): ItemValues(
          journaled: [
            CapturedValue(name: "allocate.id", value: "first", isSecret: true)
          ], sha256: nil)
      ], secrets: [])
    #expect(values.mask.mask("first") == "***")
    values.update(place(0)) { $0.allocate = [capture("second")] }
    #expect(values.mask.mask("first second") == "first ***")
  }

  @Test func aSecretThatOthersHaveTooStaysMasked() {
    var values = ItemValueStore([:], secrets: [SensitiveValue("shared")])
    for item in 0..<2 { values.update(place(item)) { $0.allocate = [capture("shared"), capture("both")] } }
    values.forget(place(0))
    #expect(values.mask.mask("both") == "***")
    values.forget(place(1))
    values.forget(place(1))
    #expect(values.mask.mask("both shared") == "both ***")
  }
}
