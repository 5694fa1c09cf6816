import FerryDigest
import FerryPlan
import FerryProcess

/// Computes SHA-256 on another thread than the loop's, one piece at a time.
///
/// `@unchecked Sendable`: only blocks on `worker` access `streams`, and `worker` runs one at a time.
final class HashThread: @unchecked Sendable {
  /// A large file is hashed in slices of this size, so that pieces of transfers are hashed between them.
  private static let slice = 1 << 20

  private let worker: SerialWorker
  private let mailbox: Mailbox
  private var streams: [Mailbox.Key: SHA256] = [:]

  init(worker: SerialWorker, mailbox: Mailbox) {
    self.worker = worker
    self.mailbox = mailbox
  }

  /// Adds the next bytes of a stream. Posts `hashed` when they are hashed.
  func update(_ key: Mailbox.Key, _ bytes: [UInt8]) {
    worker.submit { [self] in
      let hash = streams[key] ?? SHA256()
      streams[key] = hash
      hash.update(bytes)
      mailbox.post(.hashed(key, bytes: bytes.count))
    }
  }

  /// Discards a stream that is canceled or resent from its start.
  func reset(_ key: Mailbox.Key) {
    worker.submit { [self] in streams[key] = nil }
  }

  /// Completes a stream and posts `digest`.
  func finish(_ key: Mailbox.Key) {
    worker.submit { [self] in
      let hasher = streams.removeValue(forKey: key) ?? SHA256()
      mailbox.post(.digest(key, hasher.finalize()))
    }
  }

  /// Hashes a file that is not being sent and posts `fileDigest`.
  func hash(_ key: Mailbox.Key, _ source: TransferRequest.FileSource) {
    worker.submit { [self] in
      do throws(TransportFailure) {
        let file = try UploadFile(source)
        proceed(FileHash(key: key, file: file))
      } catch {
        mailbox.post(.fileDigest(key, .failure(error)))
      }
    }
  }

  /// `@unchecked Sendable`: it is passed from block to block of one worker.
  private final class FileHash: @unchecked Sendable {
    let key: Mailbox.Key
    let file: UploadFile
    var offset: Int64 = 0
    let hasher = SHA256()

    init(key: Mailbox.Key, file: UploadFile) {
      self.key = key
      self.file = file
    }
  }

  private func proceed(_ hash: FileHash) {
    do throws(TransportFailure) {
      let size = Int(min(Int64(Self.slice), hash.file.source.size - hash.offset))
      let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 16)
      defer { buffer.deallocate() }
      let count = try hash.file.read(at: hash.offset, into: buffer)
      hash.hasher.update(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
      hash.offset += Int64(count)
      if hash.offset < hash.file.source.size {
        worker.submit { [self] in proceed(hash) }
      } else {
        mailbox.post(.fileDigest(hash.key, .success(hash.hasher.finalize())))
      }
    } catch {
      mailbox.post(.fileDigest(hash.key, .failure(error)))
    }
  }
}
