/// A table of text cells, which is shown as a card.
struct HTMLTable {
  var title: String
  var note: String?
  var columns: [String]
  /// The columns whose cells are numbers.
  var numbers: Range<Int> = 0..<0
  var rows: [[String]]

  var line: JSONLine {
    var table = JSONLine()
    table.add("title", title)
    table.add("note", note)
    table.add("columns", strings: columns)
    table.add("numbers", numbers: numbers.map(Double.init))
    table.add("rows", arrays: rows.map { $0.map { .text($0) } })
    return table
  }
}
