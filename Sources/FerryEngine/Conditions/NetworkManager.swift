import Foundation

/// NetworkManager's word, where it is there (nmcli(1)).
package enum NetworkManager {
  /// Whether an interface is paid by volume; `nil` where nobody knows.
  package static func isMetered(_ interface: String) -> Bool? {
    let program = Process()
    program.executableURL = URL(fileURLWithPath: "/usr/bin/nmcli")
    program.arguments = ["--terse", "--get-values", "GENERAL.METERED", "device", "show", interface]
    let output = Pipe()
    program.standardOutput = output
    program.standardError = FileHandle.nullDevice
    program.standardInput = FileHandle.nullDevice
    do { try program.run() } catch { return nil }
    // It answers from memory; one that does not is not waited for.
    let patience = DispatchWorkItem { program.terminate() }
    DispatchQueue.global().asyncAfter(deadline: .now() + 2, execute: patience)
    defer { patience.cancel() }
    // What cannot be read is no word.
    let text = String(decoding: (try? output.fileHandleForReading.readToEnd()) ?? Data(), as: UTF8.self)
    program.waitUntilExit()
    return meaning(of: text)
  }

  /// `yes`, `no`, either as a guess, or `unknown`.
  package static func meaning(of answer: String) -> Bool? {
    switch answer.split(separator: " ").first?.trimmingCharacters(in: .whitespacesAndNewlines) {
    case "yes": true
    case "no": false
    default: nil
    }
  }
}
