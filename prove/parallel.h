// Independent tasks on threads.
#ifndef ASSAY_PROVE_PARALLEL_H_
#define ASSAY_PROVE_PARALLEL_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>
#include <vector>

namespace assay::prove {

// task(0) … task(n - 1), each once, by `jobs` threads that take the next one when they are done.
template <typename Task>
void ParallelFor(int64_t n, int jobs, const Task& task) {
  std::atomic<int64_t> next = 0;
  const auto work = [&] {
    for (int64_t i = next++; i < n; i = next++) task(i);
  };
  std::vector<std::thread> threads;
  for (int i = 1; i < jobs; ++i) threads.emplace_back(work);
  work();
  for (std::thread& thread : threads) thread.join();
}

class Stopwatch {
 public:
  double Seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace assay::prove

#endif  // ASSAY_PROVE_PARALLEL_H_
