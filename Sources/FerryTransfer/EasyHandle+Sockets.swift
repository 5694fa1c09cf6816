import CCurl

extension EasyHandle {
  /// Makes libcurl open and close its sockets through the ledger.
  ///
  /// The context is the ledger, not the handle. A connection keeps the callback and context of the handle
  /// that created it, outlives that handle in the multi handle's cache, and is closed by
  /// `curl_multi_cleanup` at the latest. The loop keeps the ledger alive until then.
  func setSocketCallbacks() {
    let context = Unmanaged.passUnretained(sockets).toOpaque()
    ferry_easy_set_pointer(
      curl, CURLOPT_OPENSOCKETDATA, Unmanaged.passUnretained(sockets.opener).toOpaque())
    ferry_easy_set_pointer(curl, CURLOPT_CLOSESOCKETDATA, context)
    ferry_easy_set_open_socket(curl) { context, _, address in
      guard let context, let address, UnixSocket.mayConnect(address) else { return CURL_SOCKET_BAD }
      return Unmanaged<SocketOpener>.fromOpaque(context)._withUnsafeGuaranteedRef {
        $0.open(
          family: address.pointee.family, type: address.pointee.socktype, protocol: address.pointee.protocol)
      }
    }
    ferry_easy_set_close_socket(curl) { context, descriptor in
      guard let context else { return 1 }
      return Unmanaged<SocketLedger>.fromOpaque(context)._withUnsafeGuaranteedRef {
        $0.closeSocket(descriptor)
      }
    }
  }

  /// Makes libcurl open sockets whose packets are marked as lower effort.
  func setBackgroundSockets() {
    ferry_easy_set_pointer(
      curl, CURLOPT_OPENSOCKETDATA, Unmanaged.passUnretained(sockets.backgroundOpener).toOpaque())
  }
}
