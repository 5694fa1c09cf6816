import FerryPlan
import FerryReport
import Testing

/// The lines of progress in terminals of different widths.
struct ProgressTextTests {
  private let figures = ProgressText.Figures(
    done: 12, open: 988, failed: 3, bytes: 36_000, seconds: 2, pause: .retrying)

  @Test func `the least important parts are omitted first`() {
    let lines = [120, 80, 70, 50, 45, 30, 20, 12, 5, 1, 0].map { ProgressText.line(figures, columns: $0) }
    #expect(
      lines == [
        "12 of 1000 items, 36.0 kB, 18.0 kB/s, 2 min 45 s left, 3 failed, waiting to retry",
        "12 of 1000 items, 18.0 kB/s, 2 min 45 s left, 3 failed, waiting to retry",
        "12 of 1000 items, 2 min 45 s left, 3 failed, waiting to retry",
        "12 of 1000 items, 3 failed, waiting to retry",
        "12 of 1000 items, 3 failed, waiting to retry",
        "12 of 1000 items, 3 failed",
        "12 of 1000 items", "12/1000", "12/…0", "", "",
      ])
  }

  @Test func `while files are being listed, the total is a lower bound, and no time is estimated`() {
    var figures = figures
    figures.isListing = true
    #expect(
      ProgressText.line(figures)
        == "12 of at least 1000 items, 36.0 kB, 18.0 kB/s, 3 failed, waiting to retry")
    #expect(ProgressText.line(figures, columns: 12) == "12/1000")
  }

  @Test func `a narrow terminal shows the name of a request and its percentage`() {
    let request = ActiveRequest(
      node: "photos", path: Array("2026/日本語の写真-4711.jpg".utf8), step: .transfer, size: 1000, bytes: 450,
      seconds: 1.2)
    #expect(
      ProgressText.line(request, columns: 80)
        == "  transfer  photos/2026/日本語の写真-4711.jpg  45% of 1.0 kB  1.2 s")
    // The size, the step and the time are omitted one after another.
    #expect(ProgressText.line(request, columns: 60) == "  transfer  photos/2026/日本語の写真-4711.jpg  45%  1.2 s")
    #expect(ProgressText.line(request, columns: 50) == "  photos/2026/日本語の写真-4711.jpg  45%  1.2 s")
    #expect(ProgressText.line(request, columns: 40) == "  photos/2026/日本…4711.jpg  45%  1.2 s")
    #expect(ProgressText.line(request, columns: 36) == "  photos/2026/日…711.jpg  45%  1.2 s")
    #expect(ProgressText.line(request, columns: 20) == "  photos/2….jpg  45%")
    for columns in 0...80 {
      let line = ProgressText.line(request, columns: columns)
      #expect(ProgressText.width(line) <= columns, "\(columns): \(line)")
    }
  }
}
