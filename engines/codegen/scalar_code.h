// A computation of scalars (comparator, reducer, combiner) as generated code that applies it step by step.
#ifndef ASSAY_ENGINES_CODEGEN_SCALAR_CODE_H_
#define ASSAY_ENGINES_CODEGEN_SCALAR_CODE_H_

#include <memory>
#include <vector>

#include "engines/codegen/inliner.h"
#include "jit/isa.h"
#include "jit/loop.h"

namespace assay::codegen {

class ScalarCode {
 public:
  // `vectors`: also for many applications side by side. NotSupported with the reason where there is no code
  // for the computation.
  static absl::StatusOr<std::shared_ptr<const ScalarCode>> Make(const Module& module, ComputationId id,
                                                                Isa isa, bool vectors);

  // OK where Make would make code, as far as can be said without making it.
  static absl::Status Check(const Module& module, ComputationId id, Isa isa);

  size_t num_inputs() const { return input_streams_.size(); }
  size_t num_outputs() const { return output_streams_.size(); }
  int lanes() const { return vectors_.lanes(); }

  // The code with its constants, for one thread.
  class Frame {
   public:
    Frame(const ScalarCode& code, bool vectors);
    // Where the first step's elements are, and how many bytes behind them the next one's; inputs that the
    // computation does not read are passed over. Addresses stay until they are set again unless the stride is
    // not 0. A step reads all inputs before it writes.
    void SetInput(size_t i, const std::byte* address) {
      if (code_.input_streams_[i] >= 0)
        frame_.SetAddress(static_cast<size_t>(code_.input_streams_[i]), address);
    }
    // What SetInput sets; null for an input that is passed over.
    void** InputAddress(size_t i) {
      const int stream = code_.input_streams_[i];
      return stream < 0 ? nullptr : frame_.address(static_cast<size_t>(stream));
    }
    void SetInputStride(size_t i, int64_t bytes) {
      if (code_.input_streams_[i] >= 0) frame_.SetStride(static_cast<size_t>(code_.input_streams_[i]), bytes);
    }
    void SetOutput(size_t i, std::byte* address) { frame_.SetAddress(code_.output_streams_[i], address); }
    void SetOutputStride(size_t i, int64_t bytes) { frame_.SetStride(code_.output_streams_[i], bytes); }
    void Run(int64_t times) { frame_.Run(times); }  // times > 0

   private:
    const ScalarCode& code_;
    jit::Steps::Frame frame_;
  };

 private:
  // Everything but the code.
  static absl::StatusOr<std::shared_ptr<ScalarCode>> Inlined(const Module& module, ComputationId id, Isa isa,
                                                             jit::Segment& made);

  std::vector<int> input_streams_;  // -1: not read
  std::vector<size_t> output_streams_, constant_streams_;
  std::vector<Copies> constants_;
  jit::Steps single_, vectors_;
};

}  // namespace assay::codegen

#endif  // ASSAY_ENGINES_CODEGEN_SCALAR_CODE_H_
