#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// Decides which links inside a root are followed, depending on the users who may have created them.
package struct LinkOwner: Sendable {
  /// Whether a user can create hard links only to files that this user owns, or may read and write.
  private let hardLinksAreProtected: Bool

  /// - Parameter hardLinksAreProtected: by default, according to fs.protected_hardlinks (proc(5)).
  package init(hardLinksAreProtected: Bool = Self.protectsHardLinks) {
    self.hardLinksAreProtected = hardLinksAreProtected
  }

  /// Linux protects hard links only if fs.protected_hardlinks is 1, which is not the kernel's default. Other systems do not
  /// protect them.
  package static let protectsHardLinks: Bool = {
    let descriptor = open("/proc/sys/fs/protected_hardlinks", O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    var byte: UInt8 = 0
    return read(descriptor, &byte, 1) == 1 && byte == UInt8(ascii: "1")
  }()

  /// The reason why the links to a file are not followed, or why the file is not used under this name; `nil` if there is
  /// none.
  ///
  /// If such links were followed, a user with write access to one folder of the root could have any file in the root
  /// sent, even a file that only another user may read or that `exclude` matches.
  package func refusal(of target: SourceRoot.Target) -> String? {
    let owner = target.status.st_uid
    guard let stranger = Self.stranger(among: target.linkOwners, of: owner) else {
      guard target.hasSharedLink, !hardLinksAreProtected else {
        return refusal(ofName: target.status, in: target.folder)
      }
      return
        "it is a symbolic link with several names (hard links), and another user may have created this one"
    }
    return "it is a symbolic link of user \(stranger) to a file of user \(owner), which ferry does not follow"
  }

  /// The first owner of a link on a path who is neither root, nor the user who runs ferry, nor the owner of the file.
  package static func stranger(among linkOwners: [uid_t], of owner: uid_t) -> uid_t? {
    linkOwners.first { $0 != geteuid() && $0 != 0 && $0 != owner }
  }

  /// The reason why a file is not used under its name in a folder; `nil` if there is none. Another user may have created the
  /// name as a hard link to a file that only the user who runs ferry may read.
  package func refusal(ofName file: stat, in folder: stat) -> String? {
    guard !hardLinksAreProtected else { return nil }
    let (stranger, others) = (folder.st_uid, folder.st_mode & 0o022)
    guard others == 0 else {
      guard file.st_nlink > 1 else { return nil }
      let users = others & 0o002 != 0 ? "any user" : "a user of the folder's group"
      return "it has several names (hard links), and \(users) may have created this one"
    }
    guard stranger != geteuid(), stranger != 0, stranger != file.st_uid else { return nil }
    return
      "it is a file of user \(file.st_uid) in a folder of user \(stranger), who may have created this name (a hard link)"
  }
}
