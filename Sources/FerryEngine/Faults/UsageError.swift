/// The error of a command that cannot be executed as given. Nothing was started; the exit code is 2.
package struct UsageError: Error, CustomStringConvertible, Sendable {
  package var description: String

  package init(_ description: String) { self.description = description }
}
