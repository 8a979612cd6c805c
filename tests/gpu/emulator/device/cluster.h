// What kernels of sm_90a ask of their clusters: barriers in shared memory (mbarrier), bulk copies that count
// for them, and products of warpgroups (wgmma). All of it is asynchronous on a device; here a copy comes and
// a product is done as late as the program allows, and everything is checked for order by vector clocks.
//
// A clock has one component for each thread of the cluster, and one for each barrier, which counts the copies
// that came for it. Threads learn of others' clocks at barriers of warps, blocks and the cluster, and by the
// barriers of this file: from an arrival, or a copy that came, to a wait that its phase ended.
#ifndef ASSAY_TESTS_GPU_EMULATOR_DEVICE_CLUSTER_H_
#define ASSAY_TESTS_GPU_EMULATOR_DEVICE_CLUSTER_H_

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/gpu/emulator/device/shadow.h"

namespace assay::emulated {

class GridRun;

class Cluster {
 public:
  Cluster(GridRun& run, uint32_t blocks, uint32_t threads, uint32_t shared_bytes);

  // By the thread that runs. Addresses are those of SharedAddress.
  static constexpr uint32_t kWindow =
      0x410;  // of the first byte of shared memory: aligned to 16 bytes, and no more
  void Init(uint32_t barrier, uint32_t arrivals);
  void InitFence();
  void Expect(uint32_t barrier, uint32_t bytes);
  void ArriveAt(uint32_t barrier, uint32_t rank);
  void Wait(uint32_t barrier, uint32_t parity);
  void Copy(uint32_t to, const void* from, uint32_t bytes, uint32_t barrier, uint32_t ranks);
  enum class Call { kFence, kMultiply, kCommit, kWait, kRegisters };
  struct GroupCall {
    Call call;
    int32_t* sums = nullptr;  // 128 of them
    uint64_t a = 0, b = 0;
    bool a_signed = true, b_signed = true;
    uint32_t value = 0;  // whether to add; how many groups may be left; how many registers
  };
  // All 128 threads of a warpgroup make the same call.
  void Together(const GroupCall& call);

  // An ordinary access to the shared memory of the thread's block.
  void Access(uint32_t rank, uint32_t offset, uint32_t bytes, emulated::Access access);
  // Threads [first, first + count) have met.
  void Meet(uint32_t first, uint32_t count);

  // Of the scheduler, where every thread waits: lets a copy come that a wait needs. False: there is none.
  bool Deliver();
  // Why the waits can't end; what is left at the end, empty where nothing is.
  std::string WhyStuck() const;
  std::string Unfinished() const;

 private:
  using Clock = std::vector<uint32_t>;
  struct Barrier {
    uint32_t wanted = 0, left = 0;
    int64_t bytes = 0;  // expected and not come
    uint64_t phase = 0;
    Clock now, done;  // of what arrived in this phase, and of the phase before
    uint32_t initializer = 0, init_time = 0;
    bool fenced = false;
    size_t component = 0;  // of clocks
  };
  using Place = std::pair<uint32_t, uint32_t>;  // rank and offset
  struct BulkCopy {
    uint32_t rank, begin, end;
    const unsigned char* from;
    Place barrier;
    uint32_t came = 0;  // when, by the barrier's component; 0: under way
  };
  // Bytes that a product reads.
  struct Read {
    uint32_t rank, begin, end;
    uint32_t group;
    uint32_t done = 0;  // when, by the group's first thread; 0: the product is under way
  };
  // The sums of a warpgroup, 128 of each thread, while products that add to them are under way.
  struct Sums {
    std::array<int32_t*, 128> at;
    std::vector<int32_t> values;
    int uses = 0;  // products
  };
  struct Product {
    std::shared_ptr<Sums> sums;
    uint32_t a, b;  // offsets
    bool a_signed, b_signed, add;
  };
  struct Group {
    uint32_t arrived = 0;
    std::array<GroupCall, 128> calls;
    bool fenced = false;
    std::vector<std::shared_ptr<Sums>> sums;
    std::vector<Product> open;
    std::deque<std::vector<Product>> committed;
  };

  uint32_t rank() const;
  uint32_t OffsetOf(uint32_t address, uint32_t bytes, uint32_t alignment, const char* what) const;
  Barrier& Find(Place place, const char* what);
  uint32_t Tick(uint32_t thread) { return ++Component(clocks_[thread], thread); }
  static uint32_t& Component(Clock& clock, size_t i);
  static uint32_t Time(const Clock& clock, size_t i) { return i < clock.size() ? clock[i] : 0; }
  static void Join(Clock& clock, const Clock& other);
  void Arrive(Barrier& barrier, const char* what);
  void EndPhase(Place place, Barrier& barrier);
  void CheckCopyTo(uint32_t rank, uint32_t begin, uint32_t end);
  void Finish(Group& group, uint32_t number);
  uint32_t MatrixOf(uint64_t descriptor, uint32_t rows);
  void CheckOperand(uint32_t number, uint32_t begin, uint32_t bytes);
  void Multiply(Group& group, uint32_t number);
  void CheckSums(const Sums& sums) const;
  void Run(const Product& product, uint32_t rank) const;
  void EndGroups(Group& group, uint32_t number, uint32_t left);

  GridRun& run_;
  const uint32_t blocks_, threads_, shared_bytes_;
  std::vector<Clock> clocks_;  // of each thread
  std::map<Place, Barrier> barriers_;
  std::vector<BulkCopy> copies_;
  std::vector<Read> reads_;
  std::vector<Group> groups_;
  std::map<uint32_t, std::pair<Place, uint32_t>> waits_;  // by thread: the barrier and the parity
};

}  // namespace assay::emulated

#endif  // ASSAY_TESTS_GPU_EMULATOR_DEVICE_CLUSTER_H_
