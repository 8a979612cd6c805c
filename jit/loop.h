// Segments as machine code.
#ifndef ASSAY_JIT_LOOP_H_
#define ASSAY_JIT_LOOP_H_

#include <cstdint>
#include <span>
#include <vector>

#include "jit/code_cache.h"
#include "jit/segment.h"

namespace assay::jit {

// Code that computes a segment, a few elements at a time. It may be run by many threads at once.
class Loop {
 public:
  // Every node must satisfy CanGenerate. NotSupported where the segment is too large.
  static absl::StatusOr<Loop> Make(const Segment& segment, Target target);

  // Elements [0, n) of the streams: streams[k] is the address of stream k's first element; of a repeated stream,
  // of kMaxLanes copies of its element. Nothing outside these is read or written. A store may overwrite a
  // stream of equally large elements that begins at the same address; else streams do not overlap.
  void Run(std::span<void* const> streams, int64_t n) const;

  int lanes() const { return code_->lanes; }
  size_t code_bytes() const { return code_->memory.size(); }

 private:
  void RunTail(std::span<void* const> streams, int64_t begin, int64_t n, void* scratch) const;

  std::shared_ptr<const GeneratedCode> code_;
  std::vector<Stream> streams_;
  std::vector<bool> stored_;
};

// Code that computes a segment over and over, each time from what the last time stored. All streams are repeated
// ones; those that are stored to are the state.
class Recurrence {
 public:
  // `condition` is a pred node. Every node must satisfy CanGenerate. NotSupported where the segment is too large.
  static absl::StatusOr<Recurrence> Make(Segment segment, int16_t condition, Target target);

  // At most `limit` > 0 times: computes all nodes, ends if the condition is false, stores. Returns how many times it
  // stored; fewer than the limit if the condition ended it. streams[k] is the address of kMaxLanes copies of the
  // element.
  int64_t Run(std::span<void* const> streams, int64_t limit) const;

 private:
  std::shared_ptr<const GeneratedCode> code_;
  size_t num_streams_ = 0;
};

}  // namespace assay::jit

#endif  // ASSAY_JIT_LOOP_H_
