// Segments as machine code.
#ifndef ASSAY_JIT_LOOP_H_
#define ASSAY_JIT_LOOP_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "jit/code_cache.h"
#include "jit/segment.h"

namespace assay::jit {

// Must come behind streamed stores, before another thread may learn of them.
void StreamFence();

// Code that computes a segment, a few elements at a time. It may be run by many threads at once.
class Loop {
 public:
  // Every node must satisfy CanGenerate. NotSupported where the segment is too large.
  static absl::StatusOr<Loop> Make(const Segment& segment, Isa target);

  // Elements [0, n) of the streams: streams[k] is the address of stream k's first element; of a repeated
  // stream, of kMaxLanes copies of its element. Nothing outside these is read or written. A store may
  // overwrite a stream of equally large elements that begins at the same address;
  // else streams do not overlap.
  void Run(std::span<void* const> streams, int64_t n) const;

  int lanes() const { return code_->lanes; }

 private:
  void RunTail(std::span<void* const> streams, int64_t begin, int64_t n, void* scratch) const;

  std::shared_ptr<const GeneratedCode> code_;
  std::vector<Stream> streams_;
  std::vector<bool> stored_;
};

// Code that computes a segment over and over, each time from what the last time stored. All streams are
// repeated ones, here of values that may differ from lane to lane; those that are stored to are the state.
class Recurrence {
 public:
  // `condition` is a pred node, read in its first lane. Every node must satisfy CanGenerate or be a broadcast
  // of a lane. At least the first `elements` lanes are computed. NotSupported where the segment
  // or this number is too large.
  static absl::StatusOr<Recurrence> Make(Segment segment, int16_t condition, Isa target,
                                         int64_t elements = 1);

  // At most `limit` > 0 times, it computes all nodes, ends if the condition is false, stores. Returns how
  // many times it stored; fewer than the limit if the condition ended it. streams[k] is the address of
  // kMaxLanes elements, one a lane.
  int64_t Run(std::span<void* const> streams, int64_t limit) const;

 private:
  std::shared_ptr<const GeneratedCode> code_;
  size_t num_streams_ = 0;
};

// Code that computes a segment step by step, in order: each step sees what those before it stored. Streams
// move as the caller says.
class Steps {
 public:
  // Every node must satisfy CanGenerate. A step computes one element, or `lanes()` side by side where not
  // `single`. NotSupported where the segment is too large.
  static absl::StatusOr<Steps> Make(Segment segment, Isa target, bool single);

  int lanes() const { return lanes_; }

  // What one thread needs to run the code, which must outlive it.
  class Frame {
   public:
    explicit Frame(const Steps& steps);
    // The stream's elements of the first step, and the bytes from one step's to the next one's. Addresses are
    // to be set before every run, and each step's elements lie side by side.
    void SetAddress(size_t stream, const void* address) { table_[stream] = const_cast<void*>(address); }
    void** address(size_t stream) { return &table_[stream]; }
    void SetStride(size_t stream, int64_t bytes) {
      table_[streams_ + 1 + stream] = reinterpret_cast<void*>(bytes);
    }
    // times > 0.
    void Run(int64_t times) {
      using Code = void (*)(void** table, int64_t times);
      reinterpret_cast<Code>(const_cast<void*>(entry_))(table_.data(), times);
    }

   private:
    const void* entry_;
    size_t streams_;
    std::unique_ptr<std::byte[]> memory_;
    std::vector<void*> table_;  // addresses, scratch memory, strides
  };

 private:
  std::shared_ptr<const GeneratedCode> code_;
  int lanes_ = 0;
  size_t num_streams_ = 0;
};

}  // namespace assay::jit

#endif  // ASSAY_JIT_LOOP_H_
