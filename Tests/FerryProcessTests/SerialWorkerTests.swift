import Foundation
import Synchronization
import Testing

@testable import FerryProcess

@Suite struct `A serial worker` {
  private final class Numbers: Sendable {
    private let numbers = Mutex<[Int]>([])
    var all: [Int] { numbers.withLock { $0 } }
    func add(_ number: Int) { numbers.withLock { $0.append(number) } }
  }

  @Test func `runs its blocks in order, and drain waits for all of them`() throws {
    let worker = try SerialWorker("worker-test")
    let numbers = Numbers()
    for number in 0..<1000 { worker.submit { numbers.add(number) } }
    worker.drain()
    #expect(numbers.all == Array(0..<1000))
    worker.drain()
  }

  @Test func `runs what was submitted before it is released`() throws {
    let numbers = Numbers()
    let isOver = DispatchSemaphore(value: 0)
    do {
      let worker = try SerialWorker("worker-test")
      worker.submit {
        // Whether the worker's queue has already been closed or will be closed soon, the next block runs.
        numbers.add(1)
      }
      worker.submit {
        numbers.add(2)
        isOver.signal()
      }
    }
    #expect(isOver.wait(timeout: .now() + 20) == .success)
    #expect(numbers.all == [1, 2])
  }

  @Test func `runs a block that a block submits`() throws {
    let worker = try SerialWorker("worker-test")
    let numbers = Numbers()
    let isOver = DispatchSemaphore(value: 0)
    worker.submit { [weak worker] in
      numbers.add(1)
      worker?.submit {
        numbers.add(2)
        isOver.signal()
      }
    }
    #expect(isOver.wait(timeout: .now() + 20) == .success)
    #expect(numbers.all == [1, 2])
  }

  @Test func `blocks every signal on its thread`() throws {
    let worker = try SerialWorker("worker-test")
    let isBlocked = Mutex(false)
    worker.submit {
      var mask = sigset_t()
      pthread_sigmask(SIG_SETMASK, nil, &mask)
      isBlocked.withLock { $0 = [SIGINT, SIGTERM, SIGHUP].allSatisfy { sigismember(&mask, $0) == 1 } }
    }
    worker.drain()
    #expect(isBlocked.withLock { $0 })
  }

  @Test func `work on several threads is complete when the call returns`() {
    let numbers = Numbers()
    let next = Mutex(0)
    ParallelWork.perform(workers: 4) {
      while true {
        let number = next.withLock { next in
          defer { next += 1 }
          return next
        }
        if number >= 100 { return }
        numbers.add(number)
      }
    }
    #expect(numbers.all.sorted() == Array(0..<100))
  }
}
