import FerryJournal
import FerryPlan

extension UploadWork {
  /// The kind of the batch's row in the journal.
  var rowKind: NodeRow.Kind { download == nil ? .upload : .download }
}
