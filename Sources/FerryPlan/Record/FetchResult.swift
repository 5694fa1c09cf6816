/// The result of a fetch. The names are those of UIBackgroundFetchResult.
package enum FetchResult: String, Codable, Sendable {
  case newData = "new_data"
  case noData = "no_data"
  case failed
}
