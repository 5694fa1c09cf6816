import Foundation

/// The size of a terminal, which can change at any time.
struct TerminalSize: Equatable {
  var columns = 80
  var rows = 24

  /// The size of the terminal of a descriptor; 80 columns and 24 rows if the size is unknown.
  init(of descriptor: Int32) {
    var size = winsize()
    guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else { return }
    columns = Int(size.ws_col)
    rows = Int(size.ws_row)
  }
}
