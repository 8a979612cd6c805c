// Messages between the processes of one run. In one process there is none:
// devices meet in its memory (exchange.h).
#ifndef ASSAY_DEVICES_TRANSPORT_H_
#define ASSAY_DEVICES_TRANSPORT_H_

#include <functional>
#include <string>

#include "base/error.h"

namespace assay {

class Transport {
 public:
  virtual ~Transport() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  // From any thread. Messages of one sender arrive in order.
  virtual void Send(int to, std::string bytes) = 0;
  // Who is told of messages, on a thread of the transport's, until he returns false; messages that come while
  // there is nobody wait.
  virtual void Listen(std::function<bool(int from, std::string bytes)> listener) = 0;
  // A run that begins and does not end, because this process can't take part in it, leaves the others
  // waiting. CloseTransport then waits for nobody: mpirun ends the others when this process ends with an exit
  // code other than 0.
  virtual void BeginRun() = 0;
  virtual void EndRun() = 0;
};

// The number of this process among those that mpirun started together; 0 where it did not start it.
int ProcessRank();
// The transport of the process, by MPI; null where mpirun did not start it, or started it alone.
// NotSupported: this build has no MPI, or it can't be opened.
absl::StatusOr<Transport*> TransportOfProcess();
// Has to come before the process ends, where there is a transport: waits for the other processes.
void CloseTransport();

}  // namespace assay

#endif  // ASSAY_DEVICES_TRANSPORT_H_
