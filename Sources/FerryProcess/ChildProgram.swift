import CProcess

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// A program to start with posix_spawn(3), which does not need a thread. (Foundation's `Process` waits for
/// its own thread and hangs if the system refuses one; swift-subprocess waits for the end of the program.)
///
/// The program inherits only the specified environment, and the specified output and error streams. Its standard input
/// is `/dev/null`, and all other descriptors are closed. It runs in a new session, so that ^C and a hangup of the
/// terminal do not reach it, with every signal unblocked and set to its default action.
package struct ChildProgram {
  package enum Output: Sendable {
    case discarded
    /// This process's standard error.
    case standardError
    case descriptor(Int32)
  }

  /// The reason why the program could not be started, as an `errno`.
  package struct StartFailure: Error, CustomStringConvertible {
    package var number: Int32

    package var description: String { SystemError.text(number) }
  }

  package var path: String
  package var arguments: [String]
  package var environment: [String: String]
  /// The folder in which the program starts; `nil` means this process's working directory.
  package var folder: String?
  package var output = Output.discarded
  package var error = Output.discarded

  package init(path: String, arguments: [String], environment: [String: String], folder: String? = nil) {
    self.path = path
    self.arguments = arguments
    self.environment = environment
    self.folder = folder
  }

  /// The path of the program of a command.
  ///
  /// - Parameters:
  ///   - name: with a slash, a path relative to `folder`; any other name is searched for in PATH.
  ///   - environment: the environment that contains PATH.
  /// - Returns: `nil` if the name is not in PATH.
  package static func path(of name: String, in folder: String, environment: [String: String]) -> String? {
    if name.utf8.contains(UInt8(ascii: "/")) {
      return name.utf8.first == UInt8(ascii: "/") ? name : folder + "/" + name
    }
    return (environment["PATH"] ?? "/usr/bin:/bin").utf8.split(separator: UInt8(ascii: ":"))
      .map { "\(Substring($0))/\(name)" }.first { access($0, X_OK) == 0 }
  }

  /// Starts the program and returns its process ID. The caller must wait for the program to end, or exit before it.
  @discardableResult
  package func start() throws(StartFailure) -> pid_t {
    Self.closeOnExec()
    // If this process was started with SIGCHLD ignored, the kernel discards the statuses of its children (wait(2)).
    signal(SIGCHLD, SIG_DFL)
    #if canImport(Darwin)
    var actions: posix_spawn_file_actions_t?
    var attributes: posix_spawnattr_t?
    #else
    var actions = posix_spawn_file_actions_t()
    var attributes = posix_spawnattr_t()
    #endif
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var (all, none) = (sigset_t(), sigset_t())
    sigfillset(&all)
    sigemptyset(&none)
    posix_spawnattr_setsigdefault(&attributes, &all)
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setflags(
      &attributes, Int16(POSIX_SPAWN_SETSIGDEF) | Int16(POSIX_SPAWN_SETSIGMASK) | Int16(FERRY_SPAWN_SETSID))
    var codes = [posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)]
    // The order matters: if `output` is `.standardError`, it must copy this process's standard error before `error`
    // replaces that descriptor.
    codes.append(Self.redirect(STDOUT_FILENO, to: output, &actions))
    codes.append(Self.redirect(STDERR_FILENO, to: error, &actions))
    if let folder { codes.append(ferry_spawn_change_folder(&actions, folder)) }
    if let code = codes.first(where: { $0 != 0 }) { throw StartFailure(number: code) }
    var process = pid_t()
    let code = Self.withStrings([path] + arguments) { words in
      Self.withStrings(environment.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }) { variables in
        posix_spawn(&process, path, &actions, &attributes, words, variables)
      }
    }
    guard code == 0 else { throw StartFailure(number: code) }
    return process
  }

  /// How a program ended.
  package enum Ending: Hashable, Sendable {
    case exited(status: Int32)
    /// A signal terminated the program.
    case terminated(signal: Int32)
  }

  /// Waits for the end of a program that was started.
  ///
  /// - Parameters:
  ///   - deadline: a time on the clock of `DeadlineCondition.now`.
  ///   - isStopped: if it returns true, the wait ends.
  /// - Returns: how the program ended; `nil` if it had not ended when the wait ended.
  package static func wait(
    for process: pid_t, until deadline: Int64, unless isStopped: () -> Bool = { false }
  ) -> Ending? {
    // Polling needs neither a thread, which the system may refuse, nor a signal handler, which may belong to the
    // caller.
    var pause: Int64 = 1_000_000
    while true {
      if let ending = ending(of: process) { return ending }
      let rest = deadline - DeadlineCondition.now
      guard rest > 0, !isStopped() else { return nil }
      var time = timespec(tv_sec: 0, tv_nsec: Int(min(pause, rest)))
      nanosleep(&time, nil)
      pause = min(2 * pause, 50_000_000)
    }
  }

  /// How a program that was started has ended; `nil` while it is running. The end is reported only once.
  package static func ending(of process: pid_t) -> Ending? {
    var status: Int32 = 0
    guard waitpid(process, &status, WNOHANG) == process else { return nil }
    // WIFEXITED, WEXITSTATUS and WTERMSIG (wait(2)) are macros.
    let signal = status & 0x7F
    return signal == 0 ? .exited(status: status >> 8 & 0xFF) : .terminated(signal: signal)
  }

  /// Runs the program and returns its standard output. Returns `nil` if the program cannot be started, has
  /// not closed its output within `limit`, or writes more than 64 KiB; in the last two cases, the program is
  /// killed.
  package func standardOutput(within limit: Duration) -> [UInt8]? {
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { return nil }
    defer { close(ends[0]) }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    var program = self
    program.output = .descriptor(ends[1])
    // The caller does not need the reason for a failed start.
    let started = try? program.start()
    close(ends[1])
    guard let process = started else { return nil }
    let bytes = Self.read(ends[0], until: DeadlineCondition.now + limit.components.seconds * 1_000_000_000)
    if bytes == nil { kill(process, SIGKILL) }
    var status: Int32 = 0
    while waitpid(process, &status, 0) < 0, errno == EINTR {}
    return bytes
  }

  /// Reads to the end of the file.
  private static func read(_ descriptor: Int32, until deadline: Int64) -> [UInt8]? {
    var bytes: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 4096)
    while bytes.count <= 64 << 10 {
      let rest = (deadline - DeadlineCondition.now) / 1_000_000
      guard rest > 0 else { return nil }
      var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      guard poll(&entry, 1, Int32(clamping: rest)) > 0 else { continue }
      #if canImport(Darwin)
      let count = Darwin.read(descriptor, &piece, piece.count)
      #elseif canImport(Musl)
      let count = Musl.read(descriptor, &piece, piece.count)
      #else
      let count = Glibc.read(descriptor, &piece, piece.count)
      #endif
      if count == 0 { return bytes }
      guard count > 0 else { return nil }
      bytes += piece[..<count]
    }
    return nil
  }

  #if canImport(Darwin)
  private typealias Actions = posix_spawn_file_actions_t?
  #else
  private typealias Actions = posix_spawn_file_actions_t
  #endif

  private static func redirect(_ descriptor: Int32, to output: Output, _ actions: inout Actions) -> Int32 {
    switch output {
    case .discarded: posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null", O_WRONLY, 0)
    case .standardError: posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, descriptor)
    case .descriptor(let source): posix_spawn_file_actions_adddup2(&actions, source, descriptor)
    }
  }

  /// Sets FD_CLOEXEC on every descriptor above the standard ones, including inherited descriptors and those
  /// that libraries open without O_CLOEXEC.
  private static func closeOnExec() {
    let first = STDERR_FILENO + 1
    if ferry_close_on_exec_from(UInt32(first)) == 0 { return }
    var limit = rlimit()
    #if canImport(Darwin)
    getrlimit(RLIMIT_NOFILE, &limit)
    #else
    getrlimit(numericCast(RLIMIT_NOFILE.rawValue), &limit)
    #endif
    for descriptor in first..<Int32(clamping: max(limit.rlim_cur, rlim_t(first))) {
      let flags = fcntl(descriptor, F_GETFD)
      if flags >= 0 { _ = fcntl(descriptor, F_SETFD, flags | FD_CLOEXEC) }
    }
  }

  /// Calls `body` with an array of C strings that ends with a null pointer.
  private static func withStrings<Result>(
    _ texts: [String], _ body: ([UnsafeMutablePointer<CChar>?]) -> Result
  ) -> Result {
    let strings = texts.map { strdup($0) }
    defer { for string in strings { free(string) } }
    return body(strings + [nil])
  }
}
