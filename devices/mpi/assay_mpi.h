// The functions of the library assay_mpi, found by name.
#ifndef ASSAY_DEVICES_MPI_ASSAY_MPI_H_
#define ASSAY_DEVICES_MPI_ASSAY_MPI_H_

#include <cstdint>

extern "C" {

// Not 0: MPI can't be had.
int assay_mpi_open(int* rank, int* size);
// Copies the bytes, and does not wait for them to arrive.
void assay_mpi_send(int to, const char* bytes, int64_t size);
// The size of a message that has come, and from whom, to be received next; -1: none has.
int64_t assay_mpi_probe(int* from);
void assay_mpi_receive(int from, char* bytes, int64_t size);
// Waits until all that was sent is gone, and for all other processes.
void assay_mpi_close();

}  // extern "C"

#endif  // ASSAY_DEVICES_MPI_ASSAY_MPI_H_
