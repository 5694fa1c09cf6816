import GRDB

extension Database {
  /// Runs one immediate transaction. If another process is writing, the transaction waits before its first read, not
  /// between a read and a write.
  func inImmediateTransaction<Result>(_ body: (Database) throws -> Result) throws -> Result {
    var result: Swift.Result<Result, any Error>?
    try inTransaction(.immediate) {
      result = .success(try body(self))
      return .commit
    }
    guard let result else { preconditionFailure("a transaction that was committed has run its body") }
    return try result.get()
  }
}
