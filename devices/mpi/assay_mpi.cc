// Bytes between the processes that mpirun started: a library that is opened at run time
// (devices/transport.cc), so that the command does without MPI elsewhere. One thread calls all of it.
// The C functions alone.
#define OMPI_SKIP_MPICXX
#define MPICH_SKIP_MPICXX
#include "devices/mpi/assay_mpi.h"

#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <list>
#include <string>
#include <vector>

namespace {

constexpr int kSize = 1, kPiece = 2;  // tags
constexpr int64_t kMaxAtOnce = 1 << 30;

// Sent, but not yet gone.
struct Outgoing {
  std::string bytes;
  int64_t size = 0;
  std::vector<MPI_Request> requests;
};
std::list<Outgoing>& Pending() {
  static std::list<Outgoing> pending;
  return pending;
}

void DropWhatIsGone() {
  Pending().remove_if([](Outgoing& outgoing) {
    int done = 0;
    MPI_Testall(static_cast<int>(outgoing.requests.size()), outgoing.requests.data(), &done,
                MPI_STATUSES_IGNORE);
    return done != 0;
  });
}

}  // namespace

extern "C" {

int assay_mpi_open(int* rank, int* size) {
  int provided = 0;
  if (MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided) != MPI_SUCCESS) return 1;
  MPI_Comm_rank(MPI_COMM_WORLD, rank);
  MPI_Comm_size(MPI_COMM_WORLD, size);
  return 0;
}

void assay_mpi_send(int to, const char* bytes, int64_t size) {
  DropWhatIsGone();
  Outgoing& outgoing = Pending().emplace_back();
  outgoing.bytes.assign(bytes, static_cast<size_t>(size));
  outgoing.size = size;
  MPI_Isend(&outgoing.size, 1, MPI_INT64_T, to, kSize, MPI_COMM_WORLD, &outgoing.requests.emplace_back());
  for (int64_t at = 0; at < size; at += kMaxAtOnce) {
    MPI_Isend(outgoing.bytes.data() + at, static_cast<int>(std::min(kMaxAtOnce, size - at)), MPI_BYTE, to,
              kPiece, MPI_COMM_WORLD, &outgoing.requests.emplace_back());
  }
}

int64_t assay_mpi_probe(int* from) {
  DropWhatIsGone();
  int there = 0;
  MPI_Status status;
  MPI_Iprobe(MPI_ANY_SOURCE, kSize, MPI_COMM_WORLD, &there, &status);
  if (there == 0) return -1;
  int64_t size = 0;
  *from = status.MPI_SOURCE;
  MPI_Recv(&size, 1, MPI_INT64_T, *from, kSize, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return size;
}

void assay_mpi_receive(int from, char* bytes, int64_t size) {
  for (int64_t at = 0; at < size; at += kMaxAtOnce) {
    MPI_Recv(bytes + at, static_cast<int>(std::min(kMaxAtOnce, size - at)), MPI_BYTE, from, kPiece,
             MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}

void assay_mpi_close() {
  while (!Pending().empty()) DropWhatIsGone();
  MPI_Finalize();
}

}  // extern "C"
