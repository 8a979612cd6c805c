// Positions are sorted by the last key first, then by those before it, which keep equal ones in order; at the
// end by lines, so that all lines are sorted in the same launches. Then elements are taken in that order.
#include "gpu/sort_step.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "base/counted.h"
#include "engines/native/sort/order_keys.h"
#include "evaluator/eval_context.h"
#include "fmt/format.h"
#include "gpu/kernel_function.h"
#include "gpu/radix_sort.h"
#include "gpu/resident.h"
#include "gpu/strided.h"
#include "literal/float_format.h"
#include "shape/index.h"

namespace assay::gpu {
namespace {

// Lines of elements to sort: all dimensions but one, then that one.
struct Lines {
  Strides positions;  // in the operands
  Strides places;     // in the results, of which only `taken` of a line are wanted
  int64_t count = 0, length = 0, taken = 0;
};

absl::StatusOr<Lines> LinesOf(const Shape& operand, const Shape& result, int64_t along) {
  Lines lines;
  lines.length = operand.size(along);
  lines.taken = result.size(along);
  lines.count = operand.num_elements();
  std::vector<int64_t> order;
  for (int64_t d = 0; d < operand.rank(); ++d) {
    if (d != along) order.push_back(d);
  }
  order.push_back(along);
  const std::optional<Strides> positions = StridesOf(AxesOf(operand.sizes(), order));
  const std::optional<Strides> places = StridesOf(AxesOf(result.sizes(), order));
  if (!positions || !places) return NotSupported({}, fmt::format("more than {} dimensions", kMaxDimensions));
  lines.positions = *positions;
  lines.places = *places;
  return lines;
}

// A key of the order, and the kernel that makes it.
struct KeyStep {
  size_t operand = 0;
  int64_t bytes = 0;  // of an element
  const DeviceFunction* function = nullptr;
  SortKeyArguments arguments;
  std::shared_ptr<DeviceMemory> ranks;  // of elements of one byte
  bool needs_order = false;             // a NaN has no place

  int64_t word_bytes() const { return bytes == 8 ? 8 : 4; }

  static absl::StatusOr<KeyStep> Make(Device& device, const OrderKey& key, const Lines& lines) {
    KeyStep made;
    made.operand = static_cast<size_t>(key.operand);
    made.bytes = Bytes(key.type);
    const bool is_float = IsFloat(key.type);
    const native::KeyEncoder encoder(key, Isa::kBaseline);
    made.arguments = {.positions = lines.positions,
                      .count = lines.count,
                      .complement = key.descending ? ~uint64_t{0} : 0,
                      .zero_key = encoder.zeros().key,
                      .nan_key = encoder.nans().key,
                      .is_float = is_float ? 1 : 0,
                      .has_zero_key = encoder.zeros().exists ? 1 : 0,
                      .has_nan_key = encoder.nans().exists ? 1 : 0};
    made.needs_order = is_float && !key.total_order && !encoder.nans().exists;
    if (made.needs_order && made.bytes == 1)
      return NotSupported({}, fmt::format("elements of {} compared as numbers", Name(key.type)));
    if (IsSignedIntegral(key.type)) made.arguments.sign = uint64_t{1} << (8 * made.bytes - 1);
    if (is_float && made.bytes > 1) {
      const FloatFormat& format = *Info(key.type).format;
      made.arguments.infinity = ((uint64_t{1} << format.exponent_bits) - 1) << format.mantissa_bits;
    }
    if (made.bytes == 1) ASSAY_RETURN_IF_ERROR(made.MakeRanks(device, encoder));
    ASSAY_ASSIGN_OR_RETURN(made.function,
                           KernelFunction(device, "sort", fmt::format("sort_keys_{}", made.bytes)));
    return made;
  }

  absl::Status MakeRanks(Device& device, const native::KeyEncoder& encoder) {
    std::array<std::byte, 256> bits;
    std::array<uint32_t, 256> words{};
    for (size_t i = 0; i < bits.size(); ++i) bits[i] = static_cast<std::byte>(i);
    encoder.Append(bits.data(), 256, words.data());
    std::array<uint8_t, 256> table;
    for (size_t i = 0; i < table.size(); ++i) table[i] = static_cast<uint8_t>(words[i]);
    ASSAY_ASSIGN_OR_RETURN(ranks, device.Allocate(sizeof(table)));
    arguments.table = ranks->address();
    return device.CopyIn(ranks->address(), std::as_bytes(std::span(table)));
  }

  absl::Status Enqueue(Device& device, const SortMemory& memory, const SortCounts& counts, DeviceAddress from,
                       DeviceAddress unordered) const {
    SortKeyArguments launch = arguments;
    launch.from = from;
    launch.order = memory.order();
    launch.keys = memory.keys();
    launch.counts = counts;
    launch.unordered = needs_order ? unordered : 0;
    const LaunchShape shape{.blocks = {BlocksFor(device, launch.count, kSortThreads), 1, 1},
                            .threads = {kSortThreads, 1, 1},
                            .shared_bytes = SortCountSharedBytes(counts.passes)};
    return device.Launch(*function, shape, launch);
  }
};

class SortStep final : public DeviceKernel {
 public:
  // `takes`: for each result the kernel that makes it: of operand k the elements, of more results than
  // operands (top-k) places.
  SortStep(std::shared_ptr<Device> device, const RadixSort& sort, const Lines& lines,
           std::vector<KeyStep> keys, bool ties_reversed, std::vector<const DeviceFunction*> takes)
      : DeviceKernel(std::move(device)),
        sort_(sort),
        lines_(lines),
        keys_(std::move(keys)),
        ties_reversed_(ties_reversed),
        takes_(std::move(takes)) {}

  std::string_view algorithm() const override { return "radix"; }

 private:
  absl::Status Enqueue(const DeviceCall& call) const override {
    Device& device = call.device;
    int64_t key_bytes = 0;
    for (const KeyStep& key : keys_) key_bytes = std::max(key_bytes, key.word_bytes());
    ASSAY_ASSIGN_OR_RETURN(SortMemory memory, SortMemory::Make(device, lines_.count, key_bytes));
    if (ties_reversed_) ASSAY_RETURN_IF_ERROR(sort_.StartReversed(device, memory, lines_.length));
    ASSAY_RETURN_IF_ERROR(SortByKeys(call, memory));
    if (lines_.count > lines_.length) ASSAY_RETURN_IF_ERROR(sort_.SortByLines(device, memory, lines_.length));
    for (size_t k = 0; k < takes_.size(); ++k) {
      const SortTakeArguments take{.from = k < call.operands.size() ? call.operands[k] : 0,
                                   .to = call.results[k],
                                   .order = memory.order(),
                                   .positions = lines_.positions,
                                   .places = lines_.places,
                                   .count = lines_.count / lines_.length * lines_.taken,
                                   .length = lines_.length,
                                   .taken = lines_.taken};
      const LaunchShape shape{.blocks = {BlocksFor(device, take.count, kSortThreads), 1, 1},
                              .threads = {kSortThreads, 1, 1}};
      ASSAY_RETURN_IF_ERROR(device.Launch(*takes_[k], shape, take));
    }
    return absl::OkStatus();
  }

  absl::Status SortByKeys(const DeviceCall& call, SortMemory& memory) const {
    const bool asks =
        std::any_of(keys_.begin(), keys_.end(), [](const KeyStep& key) { return key.needs_order; });
    std::shared_ptr<DeviceMemory> unordered;
    if (asks) {
      ASSAY_ASSIGN_OR_RETURN(unordered, call.device.Allocate(4));
      ASSAY_RETURN_IF_ERROR(call.device.Zero(unordered->address(), 4));
    }
    for (size_t k = keys_.size(); k-- > 0;) {
      const KeyStep& key = keys_[k];
      const auto bits = static_cast<int>(8 * key.bytes);
      ASSAY_ASSIGN_OR_RETURN(const SortCounts counts, sort_.BeginKeys(call.device, memory, bits));
      ASSAY_RETURN_IF_ERROR(key.Enqueue(call.device, memory, counts, call.operands[key.operand],
                                        asks ? unordered->address() : 0));
      ASSAY_RETURN_IF_ERROR(sort_.SortByKeys(call.device, memory, key.word_bytes(), bits));
    }
    if (!asks) return absl::OkStatus();
    uint32_t found = 0;
    ASSAY_RETURN_IF_ERROR(
        call.device.CopyOut(std::as_writable_bytes(std::span(&found, 1)), unordered->address()));
    return found == 0 ? absl::OkStatus() : Fallback("NaNs among keys that are compared as numbers");
  }

  const RadixSort sort_;
  const Lines lines_;
  const std::vector<KeyStep> keys_;
  const bool ties_reversed_;
  const std::vector<const DeviceFunction*> takes_;
};

}  // namespace

absl::StatusOr<std::shared_ptr<const Kernel>> PrepareSort(const std::shared_ptr<Device>& device,
                                                          const StepView& step) {
  const bool is_top_k = step.instruction.opcode == Opcode::kTopK;
  const Shape &operand = step.operand_shape(0), &whole = step.result_shape();
  const Shape& result = whole.IsTuple() ? whole.element(0) : whole;
  if (operand.HasDynamic() || operand.HasUnbounded()) return NotSupported({}, "dynamic dimensions");
  if (operand.num_elements() == 0 || result.num_elements() == 0) return NotSupported({}, "no elements");
  if (operand.num_elements() > kMaxSorted)
    return NotSupported({}, fmt::format("{}", Counted(operand.num_elements(), "element")));
  SortOrder order;
  if (is_top_k) {
    const bool largest = step.instruction.attributes.Bool(Attr::kLargest, true);
    order.keys.push_back({.type = operand.element_type(), .operand = 0, .descending = largest});
  } else {
    std::optional<SortOrder> found =
        RecogniseOrder(step.module, *step.instruction.attributes.Computation(Attr::kToApply));
    if (!found) return NotSupported({}, "the comparator is not an order by keys");
    order = *std::move(found);
  }
  const int64_t along =
      is_top_k ? operand.rank() - 1 : step.instruction.attributes.List(Attr::kDimensions)[0];
  ASSAY_ASSIGN_OR_RETURN(const Lines lines, LinesOf(operand, result, along));
  std::vector<KeyStep> keys;
  for (const OrderKey& key : order.keys) {
    if (key.operand < 0) return NotSupported({}, "a key that the comparator computes");
    ASSAY_ASSIGN_OR_RETURN(KeyStep next, KeyStep::Make(*device, key, lines));
    keys.push_back(std::move(next));
  }
  std::vector<const DeviceFunction*> takes;
  for (size_t k = 0; k < step.instruction.operands.size(); ++k) {
    const int64_t bytes = Bytes(step.operand_shape(static_cast<int64_t>(k)).element_type());
    ASSAY_ASSIGN_OR_RETURN(const DeviceFunction* const take,
                           KernelFunction(*device, "sort", fmt::format("sort_take_{}", bytes)));
    takes.push_back(take);
  }
  if (is_top_k) {
    ASSAY_ASSIGN_OR_RETURN(const DeviceFunction* const places,
                           KernelFunction(*device, "sort", "sort_places"));
    takes.push_back(places);
  }
  ASSAY_ASSIGN_OR_RETURN(const RadixSort sort, RadixSort::Make(*device));
  return std::make_shared<const SortStep>(device, sort, lines, std::move(keys), order.ties_reversed,
                                          std::move(takes));
}

}  // namespace assay::gpu
