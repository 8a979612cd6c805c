#include "gpu/ptx/fused.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/counted.h"
#include "evaluator/static_shape.h"
#include "fmt/format.h"
#include "gpu/ptx/body.h"

namespace assay::gpu {
namespace {

constexpr uint32_t kThreads = 256;
// Blocks a multiprocessor: twice as many as run at once, for those that end early.
constexpr int64_t kBlocks = 16;
constexpr int64_t kFewest = 1000;  // elements of a kernel that makes several at once

enum Offset : int64_t { kElements = 0, kResult = 8, kOpen = 16, kRoom = 24, kOpenCount = 32, kOperands = 40 };
static_assert(sizeof(FusedArgument) == kOperands + 8);

class Builder {
 public:
  // A loop that makes so many elements at a time, and one for what is left.
  Builder(const FusionView& step, int at_once, bool approximate)
      : step_(step),
        at_once_(at_once),
        body_(writer_, step, step.members, *step.root().shape, kOperands, approximate),
        elements_(body_.elements()) {}

  absl::StatusOr<FusedKernel> Run() {
    kernel_.elements = step_.root().shape->num_elements();
    kernel_.num_operands = step_.operands.size();
    kernel_.at_once = at_once_;
    if (static_cast<int64_t>(step_.members.size()) > FusionBody::kMaxMembers)
      return NotSupported({}, fmt::format("{}", Counted(step_.members.size(), "instruction")));
    Start();
    if (at_once_ > 1) ASSAY_RETURN_IF_ERROR(AddLoop(at_once_));
    ASSAY_RETURN_IF_ERROR(AddLoop(1));
    writer_.Return();
    kernel_.is_read = body_.is_read();
    kernel_.reads_in_place = body_.reads_in_place();
    kernel_.text = writer_.Finish(FusedKernel::kName, FusedArgument::Bytes(kernel_.num_operands));
    return std::move(kernel_);
  }
  int64_t body_instructions() const { return writer_.body_instructions(); }

 private:
  using Special = PtxWriter::Special;

  // The first element of the thread is that of its number, the next one as many threads further.
  void Start() {
    {
      const PtxWriter::InPrologue here(writer_);
      const Register threads = writer_.Read(Special::kThreads);
      const Register before = writer_.MulWideU32(writer_.Read(Special::kBlock), threads);
      first_ = writer_.Add64(before, writer_.ExtendU32(writer_.Read(Special::kThread)));
      threads_ = writer_.MulWideU32(writer_.Read(Special::kBlocks), threads);
    }
    next_ = writer_.Copy(first_);
  }

  // As long as there are so many elements for the thread. All are made before one is stored:
  // no load waits for a store.
  absl::Status AddLoop(int count) {
    const Label again = writer_.NewLabel(), done = writer_.NewLabel();
    writer_.Place(again);
    std::vector<Register> indices = {next_};
    while (static_cast<int>(indices.size()) < count)
      indices.push_back(writer_.Add64(indices.back(), threads_));
    writer_.BranchIf(writer_.GeU64(indices.back(), body_.InPrologue(kElements)), done);
    std::vector<std::pair<Element, Register>> results;  // and whether they are open
    for (const Register index : indices) {
      ASSAY_RETURN_IF_ERROR(body_.Make(index));
      ASSAY_ASSIGN_OR_RETURN(Element* const root, body_.ValueOf(step_.members.back()));
      elements_.Pattern(*root);
      results.emplace_back(*root, body_.open());
    }
    for (size_t k = 0; k < indices.size(); ++k) {
      auto& [root, open] = results[k];
      elements_.Store(root, elements_.AddressOf(root.type, body_.InPrologue(kResult), indices[k]));
      if (!open.known()) continue;
      kernel_.may_leave_open = true;
      body_.NoteOpen(open, indices[k], {.list = kOpen, .room = kRoom, .count = kOpenCount});
    }
    writer_.Assign(next_, writer_.Add64(indices.back(), threads_));
    writer_.Branch(again);
    writer_.Place(done);
    return absl::OkStatus();
  }

  const FusionView& step_;
  const int at_once_;
  PtxWriter writer_;
  FusionBody body_;
  Elements& elements_;
  FusedKernel kernel_;
  Register first_, threads_, next_;
};

}  // namespace

std::vector<std::byte> FusedKernel::Argument(const FusedArgument& common,
                                             std::span<const DeviceAddress> operands) const {
  ASSAY_CHECK(operands.size() == num_operands);
  std::vector<std::byte> bytes(static_cast<size_t>(FusedArgument::Bytes(num_operands)));
  std::memcpy(bytes.data(), &common, kOperands);
  if (!operands.empty()) std::memcpy(bytes.data() + kOperands, operands.data(), operands.size_bytes());
  return bytes;
}

LaunchShape FusedKernel::Shape(int multiprocessors) const {
  const int64_t in_block = int64_t{kThreads} * at_once;
  const int64_t needed = (elements + in_block - 1) / in_block;
  const int64_t blocks = std::clamp<int64_t>(needed, 1, std::max(multiprocessors, 1) * kBlocks);
  return {.blocks = {static_cast<uint32_t>(blocks), 1, 1}, .threads = {kThreads, 1, 1}};
}

absl::StatusOr<FusedKernel> MakeFusedPtx(const FusionView& step, const Capability& capability,
                                         bool approximate) {
  if (capability < Capability{8, 0})
    return NotSupported(
        {}, fmt::format("compute capability {}.{}, wanted 8.0", capability.major, capability.minor));
  const Shape& shape = *step.root().shape;
  if (const std::string_view why = WhyNotStatic(shape); !why.empty()) return NotSupported({}, why);
  Builder one(step, 1, approximate);
  absl::StatusOr<FusedKernel> kernel = one.Run();
  if (approximate && kernel.ok()) {
    if (kernel->may_leave_open) return MakeFusedPtx(step, capability);
    kernel->is_approximate = true;
  }
  const int at_once = ElementsAtOnce(one.body_instructions());
  // A thread has several elements where all threads that run at once have.
  if (!kernel.ok() || at_once == 1 || kernel->elements < kFewest) return kernel;
  kernel = Builder(step, at_once, approximate).Run();
  if (kernel.ok()) kernel->is_approximate = approximate;
  return kernel;
}

std::string WhyNoMember(const StepView& step) {
  const auto self = static_cast<int32_t>(&step.instruction - step.computation.instructions.data());
  const FusionView alone{step.module, step.computation, {&self, 1}, step.instruction.operands};
  if (const std::string_view why = WhyNotStatic(*step.instruction.shape); !why.empty())
    return std::string(why);
  const absl::StatusOr<FusedKernel> kernel = Builder(alone, 1, /*approximate=*/false).Run();
  return kernel.ok() ? std::string() : std::string(kernel.status().message());
}

}  // namespace assay::gpu
