#include "engines/onednn/primitive.h"

#include <algorithm>
#include <cstdint>

#include "engines/onednn/library.h"
#include "evaluator/runtime_sizes.h"
#include "fmt/format.h"

namespace assay::onednn {
namespace {

dnnl_data_type_t DataType(ElementType type) {
  switch (type) {
    case ElementType::kF32:
      return dnnl_f32;
    case ElementType::kBF16:
      return dnnl_bf16;
    default:
      return dnnl_data_type_undef;
  }
}

dnnl_status_t Describe(const Library& library, const Array& array, dnnl_memory_desc_t* desc) {
  return library.memory_desc_init_by_strides(desc, static_cast<int>(array.sizes.size()), array.sizes.data(),
                                             DataType(array.type), array.strides.data());
}

// The same array in whatever layout the implementation wants.
dnnl_status_t DescribeAny(const Library& library, const Array& array, dnnl_memory_desc_t* desc) {
  return library.memory_desc_init_by_tag(desc, static_cast<int>(array.sizes.size()), array.sizes.data(),
                                         DataType(array.type), dnnl_format_tag_any);
}

class Memory {
 public:
  Memory(const Library& library, const dnnl_memory_desc_t& desc, const void* data) : library_(library) {
    status_ = library.memory_create(&memory_, &desc, library.engine, const_cast<void*>(data));
  }
  ~Memory() {
    if (memory_ != nullptr) library_.memory_destroy(memory_);
  }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  dnnl_memory_t get() const { return memory_; }
  dnnl_status_t status() const { return status_; }

 private:
  const Library& library_;
  dnnl_memory_t memory_ = nullptr;
  dnnl_status_t status_;
};

constexpr int kArguments[3] = {DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DST};
constexpr dnnl_query_t kQueries[3] = {dnnl_query_src_md, dnnl_query_weights_md, dnnl_query_dst_md};

}  // namespace

// Arrays 0 and 1 are the operands, 2 the result.
struct Primitive::State {
  const Library* library = nullptr;
  dnnl_primitive_desc_t desc = nullptr;
  dnnl_memory_desc_t given[3] = {};   // as the arrays lie
  dnnl_memory_desc_t wanted[3] = {};  // as the implementation takes them
  dnnl_memory_desc_t scratch = {};
  std::mutex mutex;
  dnnl_primitive_t primitive = nullptr;  // made by the first run
  dnnl_primitive_t reorders[3] = {};     // null where given and wanted are one

  ~State() {
    for (dnnl_primitive_t reorder : reorders) {
      if (reorder != nullptr) library->primitive_destroy(reorder);
    }
    if (primitive != nullptr) library->primitive_destroy(primitive);
    if (desc != nullptr) library->primitive_desc_destroy(desc);
  }

  bool Moves(int i) const { return library->memory_desc_equal(&given[i], &wanted[i]) == 0; }
  std::string Implementation() const {
    const char* name = nullptr;
    library->primitive_desc_query(desc, dnnl_query_impl_info_str, 0, &name);
    return name == nullptr ? "" : name;
  }
  // Chooses an implementation; false where there is none but the slow reference.
  bool Choose(const void* operation);
  absl::Status MakeCode();
  absl::Status MakeReorder(int i);
  absl::Status Execute(dnnl_primitive_t what, std::span<const dnnl_exec_arg_t> arguments) const {
    ASSAY_RETURN_IF_ERROR(
        Check(library->primitive_execute(what, library->stream, static_cast<int>(arguments.size()),
                                         arguments.data()),
              "running"));
    return Check(library->stream_wait(library->stream), "waiting");
  }
};

bool Primitive::State::Choose(const void* operation) {
  if (desc != nullptr) library->primitive_desc_destroy(desc);
  desc = nullptr;
  dnnl_primitive_attr_t attributes = nullptr;
  if (library->primitive_attr_create(&attributes) != dnnl_success) return false;
  // Working memory is ours to give, and to count.
  library->primitive_attr_set_scratchpad_mode(attributes, dnnl_scratchpad_mode_user);
  const dnnl_status_t status =
      library->primitive_desc_create(&desc, operation, attributes, library->engine, nullptr);
  library->primitive_attr_destroy(attributes);
  if (status != dnnl_success) {
    desc = nullptr;
    return false;
  }
  if (Implementation().find("ref") != std::string::npos) return false;
  for (int i = 0; i < 3; ++i) wanted[i] = *library->primitive_desc_query_md(desc, kQueries[i], 0);
  scratch = *library->primitive_desc_query_md(desc, dnnl_query_scratchpad_md, 0);
  return true;
}

absl::Status Primitive::State::MakeReorder(int i) {
  const dnnl_memory_desc_t& from = i == 2 ? wanted[i] : given[i];
  const dnnl_memory_desc_t& to = i == 2 ? given[i] : wanted[i];
  dnnl_primitive_desc_t reorder = nullptr;
  ASSAY_RETURN_IF_ERROR(Check(
      library->reorder_primitive_desc_create(&reorder, &from, library->engine, &to, library->engine, nullptr),
      "choosing a reorder"));
  const dnnl_status_t status = library->primitive_create(&reorders[i], reorder);
  library->primitive_desc_destroy(reorder);
  return Check(status, "creating a reorder");
}

absl::Status Primitive::State::MakeCode() {
  const std::lock_guard lock(mutex);
  if (primitive != nullptr) return absl::OkStatus();
  for (int i = 0; i < 3; ++i) {
    if (Moves(i) && reorders[i] == nullptr) ASSAY_RETURN_IF_ERROR(MakeReorder(i));
  }
  return Check(library->primitive_create(&primitive, desc), "creating a primitive");
}

Primitive::Primitive(std::unique_ptr<State> state) : state_(std::move(state)) {}
Primitive::~Primitive() = default;

std::string Primitive::implementation() const { return state_->Implementation(); }

absl::StatusOr<std::unique_ptr<Primitive>> Primitive::MatrixProduct(Isa isa, const Array& a, const Array& b,
                                                                    const Array& c) {
  ASSAY_ASSIGN_OR_RETURN(const Library* const library, GetLibrary(isa));
  auto state = std::make_unique<State>();
  state->library = library;
  const Array* const arrays[3] = {&a, &b, &c};
  for (int i = 0; i < 3; ++i)
    ASSAY_RETURN_IF_ERROR(Check(Describe(*library, *arrays[i], &state->given[i]), "describing an array"));
  dnnl_matmul_desc_t operation;
  const bool known = library->matmul_desc_init(&operation, &state->given[0], &state->given[1], nullptr,
                                               &state->given[2]) == dnnl_success;
  if (!known || !state->Choose(&operation))
    return NotSupported({}, "oneDNN has no fast implementation of this dot");
  return std::unique_ptr<Primitive>(new Primitive(std::move(state)));
}

absl::StatusOr<std::unique_ptr<Primitive>> Primitive::Convolution(Isa isa, const Array& image,
                                                                  const Array& kernel, const Array& result,
                                                                  const Sliding& sliding) {
  ASSAY_ASSIGN_OR_RETURN(const Library* const library, GetLibrary(isa));
  auto state = std::make_unique<State>();
  state->library = library;
  const Array* const arrays[3] = {&image, &kernel, &result};
  for (int i = 0; i < 3; ++i)
    ASSAY_RETURN_IF_ERROR(Check(Describe(*library, *arrays[i], &state->given[i]), "describing an array"));
  DimVector dilations = sliding.dilations;
  for (int64_t& dilation : dilations) --dilation;
  // First with image and result where they lie, then in any layout.
  for (const bool everywhere : {false, true}) {
    dnnl_memory_desc_t descs[3];
    for (int i = 0; i < 3; ++i) {
      if (i != 1 && !everywhere) {
        descs[i] = state->given[i];
      } else if (DescribeAny(*library, *arrays[i], &descs[i]) != dnnl_success) {
        return NotSupported({}, "oneDNN does not support this array");
      }
    }
    dnnl_convolution_desc_t operation;
    const dnnl_status_t status = library->convolution_desc_init(
        &operation, dnnl_forward_inference, dnnl_convolution_direct, &descs[0], &descs[1], nullptr, &descs[2],
        sliding.strides.data(), dilations.data(), sliding.padding_low.data(), sliding.padding_high.data());
    if (status == dnnl_success && state->Choose(&operation))
      return std::unique_ptr<Primitive>(new Primitive(std::move(state)));
  }
  return NotSupported({}, "oneDNN has no fast implementation of this convolution");
}

absl::Status Primitive::Run(EvalContext& context, const std::byte* a, const std::byte* b, std::byte* c,
                            int jobs) const {
  State& state = *state_;
  const Library& library = *state.library;
  if (library.set_num_threads != nullptr && library.get_num_procs != nullptr)
    library.set_num_threads(jobs > 0 ? jobs : library.get_num_procs());
  ASSAY_RETURN_IF_ERROR(state.MakeCode());
  const void* const data[3] = {a, b, c};
  std::vector<Literal> copies;
  std::vector<std::unique_ptr<Memory>> given, taken;
  const auto make = [&](const dnnl_memory_desc_t& desc, const void* at, auto& list) -> absl::Status {
    list.push_back(std::make_unique<Memory>(library, desc, at));
    return Check(list.back()->status(), "creating a memory object");
  };
  const auto space = [&](const dnnl_memory_desc_t& desc) -> absl::StatusOr<void*> {
    const auto bytes = static_cast<int64_t>(library.memory_desc_get_size(&desc));
    ASSAY_ASSIGN_OR_RETURN(Literal copy, ReserveScratch(context, bytes, 1));
    copies.push_back(std::move(copy));
    return copies.back().MutableBytes().data();
  };
  for (int i = 0; i < 3; ++i) {
    const void* at = data[i];
    ASSAY_RETURN_IF_ERROR(make(state.given[i], at, given));
    if (state.Moves(i)) {
      ASSAY_ASSIGN_OR_RETURN(at, space(state.wanted[i]));
    }
    ASSAY_RETURN_IF_ERROR(make(state.wanted[i], at, taken));
  }
  const auto reorder = [&](int i, const Memory& from, const Memory& to) {
    const dnnl_exec_arg_t arguments[] = {{DNNL_ARG_FROM, from.get()}, {DNNL_ARG_TO, to.get()}};
    return state.Execute(state.reorders[i], arguments);
  };
  for (int i = 0; i < 2; ++i) {
    if (state.Moves(i)) ASSAY_RETURN_IF_ERROR(reorder(i, *given[i], *taken[i]));
  }
  std::vector<dnnl_exec_arg_t> arguments;
  arguments.reserve(4);
  for (int i = 0; i < 3; ++i) arguments.push_back({kArguments[i], taken[i]->get()});
  if (library.memory_desc_get_size(&state.scratch) > 0) {
    ASSAY_ASSIGN_OR_RETURN(void* const at, space(state.scratch));
    ASSAY_RETURN_IF_ERROR(make(state.scratch, at, taken));
    arguments.push_back({DNNL_ARG_SCRATCHPAD, taken.back()->get()});
  }
  ASSAY_RETURN_IF_ERROR(state.Execute(state.primitive, arguments));
  return state.Moves(2) ? reorder(2, *taken[2], *given[2]) : absl::OkStatus();
}

}  // namespace assay::onednn
