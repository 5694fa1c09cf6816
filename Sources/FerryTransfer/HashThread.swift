import FerryDigest
import FerryPlan
import FerryProcess

/// Computes digests on a separate thread, one piece at a time.
///
/// `@unchecked Sendable`: only blocks on `worker` access `streams` and `files`, and `worker` runs one at a time.
final class HashThread: @unchecked Sendable {
  /// A large file is hashed in slices of this size, so that pieces of transfers are hashed in between.
  private static let slice = 1 << 20

  private let worker: SerialWorker
  private let mailbox: Mailbox<TransferMessage>
  private var streams: [TransferKey: SHA256] = [:]
  /// Files that are not being sent and have not been hashed completely.
  private var files: [TransferKey: FileHash] = [:]

  init(worker: SerialWorker, mailbox: Mailbox<TransferMessage>) {
    self.worker = worker
    self.mailbox = mailbox
  }

  /// Adds the next bytes of a stream. Posts `hashed` when they have been hashed.
  func update(_ key: TransferKey, _ bytes: [UInt8]) {
    worker.submit { [self] in
      let hash = streams[key] ?? SHA256()
      streams[key] = hash
      hash.update(bytes)
      mailbox.post(.hashed(key, bytes: bytes.count))
    }
  }

  /// Discards a stream that is canceled or resent from its start.
  func reset(_ key: TransferKey) {
    worker.submit { [self] in streams[key] = nil }
  }

  /// Completes a stream and posts `digest`.
  func finish(_ key: TransferKey) {
    worker.submit { [self] in
      let hasher = streams.removeValue(forKey: key) ?? SHA256()
      mailbox.post(.digest(key, hasher.finalize()))
    }
  }

  /// Hashes a file, or a part of a file, that is not being sent, and posts `fileDigest`.
  func hash(_ key: TransferKey, _ source: TransferRequest.FileSource, _ algorithm: DigestAlgorithm) {
    worker.submit { [self] in
      do throws(TransportFailure) {
        files[key] = FileHash(file: try UploadFile(source), digest: algorithm.makeDigest())
        proceed(key)
      } catch {
        mailbox.post(.fileDigest(key, .failure(error)))
      }
    }
  }

  /// Stops hashing a file before its next slice. `fileDigest` is not posted, unless it has already been
  /// posted.
  func cancel(_ key: TransferKey) {
    worker.submit { [self] in files[key] = nil }
  }

  /// A partly hashed file; `offset` bytes have been hashed.
  private final class FileHash {
    let file: UploadFile
    var offset: Int64 = 0
    let digest: any ByteDigest

    init(file: UploadFile, digest: any ByteDigest) { (self.file, self.digest) = (file, digest) }
  }

  private func proceed(_ key: TransferKey) {
    guard let hash = files[key] else { return }
    do throws(TransportFailure) {
      let size = Int(min(Int64(Self.slice), hash.file.source.length - hash.offset))
      let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 16)
      defer { buffer.deallocate() }
      let count = try hash.file.read(at: hash.offset, into: buffer)
      hash.digest.update(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
      hash.offset += Int64(count)
      if hash.offset < hash.file.source.length {
        worker.submit { [self] in proceed(key) }
      } else {
        files[key] = nil
        mailbox.post(.fileDigest(key, .success(hash.digest.finalize())))
      }
    } catch {
      files[key] = nil
      mailbox.post(.fileDigest(key, .failure(error)))
    }
  }
}
