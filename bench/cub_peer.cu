// CUB beside bench/gpu.py, which compiles this. Usage: cub_peer version | sum N | max N | scan N | sort N:
// the seconds of one call on the device, of N floats: the median of 20 behind two. CUB's sums are not exact.
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cub/cub.cuh>
#include <vector>

namespace {

__global__ void Fill(float* to, int64_t count) {
  const int64_t step = static_cast<int64_t>(gridDim.x) * blockDim.x;
  for (int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += step) {
    // SplitMix64: uniform numbers in (-1, 1).
    uint64_t x = static_cast<uint64_t>(i) * 0x9e3779b97f4a7c15;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
    x = (x ^ x >> 27) * 0x94d049bb133111eb;
    to[i] = static_cast<float>(static_cast<int32_t>((x ^ x >> 31) >> 32)) * 0x1p-31f;
  }
}

void Check(cudaError_t status) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "%s\n", cudaGetErrorString(status));
  std::exit(1);
}

struct Buffers {
  float *in = nullptr, *out = nullptr;
  uint32_t *places = nullptr, *sorted_places = nullptr;
  int64_t count = 0;
};

// With no memory, how much of it a call needs.
cudaError_t Call(const char* what, const Buffers& b, void* memory, size_t& bytes) {
  if (std::strcmp(what, "sum") == 0) return cub::DeviceReduce::Sum(memory, bytes, b.in, b.out, b.count);
  if (std::strcmp(what, "max") == 0) return cub::DeviceReduce::Max(memory, bytes, b.in, b.out, b.count);
  if (std::strcmp(what, "scan") == 0)
    return cub::DeviceScan::InclusiveSum(memory, bytes, b.in, b.out, static_cast<int>(b.count));
  return cub::DeviceRadixSort::SortPairs(memory, bytes, b.in, b.out, b.places, b.sorted_places, b.count);
}

double SecondsOf(const char* what, int64_t count) {
  Buffers b;
  b.count = count;
  const bool is_sort = std::strcmp(what, "sort") == 0;
  Check(cudaMalloc(&b.in, count * 4));
  Check(cudaMalloc(&b.out, count * 4));
  if (is_sort) {
    Check(cudaMalloc(&b.places, count * 4));
    Check(cudaMalloc(&b.sorted_places, count * 4));
    Check(cudaMemset(b.places, 0, count * 4));
  }
  Fill<<<2048, 256>>>(b.in, count);
  size_t bytes = 0;
  Check(Call(what, b, nullptr, bytes));
  void* memory = nullptr;
  Check(cudaMalloc(&memory, bytes));
  cudaEvent_t begin, end;
  Check(cudaEventCreate(&begin));
  Check(cudaEventCreate(&end));
  std::vector<float> times;
  for (int run = 0; run < 22; ++run) {
    Check(cudaEventRecord(begin));
    Check(Call(what, b, memory, bytes));
    Check(cudaEventRecord(end));
    Check(cudaEventSynchronize(end));
    float milliseconds = 0;
    Check(cudaEventElapsedTime(&milliseconds, begin, end));
    if (run >= 2) times.push_back(milliseconds);
  }
  std::sort(times.begin(), times.end());
  return 1e-3 * times[times.size() / 2];
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::strcmp(argv[1], "version") == 0) {
    std::printf("CUB %d.%d.%d\n", CUB_MAJOR_VERSION, CUB_MINOR_VERSION, CUB_SUBMINOR_VERSION);
    return 0;
  }
  if (argc != 3) {
    std::fprintf(stderr, "usage: cub_peer version | sum N | max N | scan N | sort N\n");
    return 2;
  }
  std::printf("%.9f\n", SecondsOf(argv[1], std::atoll(argv[2])));
  return 0;
}
