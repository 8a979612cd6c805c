#include "custom/registrations.h"

#include <algorithm>
#include <cstring>
#include <exception>
#include <iterator>
#include <optional>

#include "custom/c_values.h"
#include "fmt/format.h"
#include "hlo/proto/words.h"

namespace assay::custom {
namespace {

std::vector<std::string> StringsOf(const AssayText* texts, size_t count) {
  std::vector<std::string> strings;
  for (size_t i = 0; i < count; ++i) strings.emplace_back(ViewOf(texts[i]));
  return strings;
}

// LIB-3: a structure's maker may know less of it than we do, which leaves the rest zero.
template <typename Struct>
Struct Whole(const Struct& given) {
  Struct whole = {};
  std::memcpy(&whole, &given, std::min(given.size, sizeof(Struct)));
  return whole;
}

// What a registrar's functions are given as `self`.
struct Collector {
  Registrations registrations;
  absl::Status status;

  void Add(const AssayOp& op) {
    if (!status.ok()) return;
    OpRegistration texts;
    texts.name = ViewOf(op.name);
    texts.doc = ViewOf(op.doc);
    texts.attrs = StringsOf(op.attrs, op.num_attrs);
    texts.inputs = StringsOf(op.inputs, op.num_inputs);
    texts.outputs = StringsOf(op.outputs, op.num_outputs);
    texts.has_side_effect = op.has_side_effect != 0;
    texts.is_stateful = op.is_stateful != 0;
    texts.composite = ViewOf(op.composite);
    texts.composite_version = op.composite_version;
    absl::StatusOr<OpInterface> interface = MakeInterface(texts);
    status = interface.status();
    if (status.ok()) registrations.ops.push_back({*std::move(interface), {op.user, op.infer}});
  }

  void Add(const AssayKernel& given) {
    if (!status.ok()) return;
    KernelDef kernel;
    kernel.op = ViewOf(given.op);
    kernel.label = ViewOf(given.label);
    kernel.priority = given.priority;
    kernel.on_cpu = given.device == ASSAY_DEVICE_CPU;
    kernel.tolerance = {given.absolute_tolerance, given.relative_tolerance};
    kernel.user = given.user, kernel.create = given.create;
    kernel.compute = given.compute, kernel.destroy = given.destroy;
    const bool is_whole = kernel.create != nullptr && kernel.compute != nullptr && kernel.destroy != nullptr;
    if (!is_whole) {
      status = InvalidProgram({}, fmt::format("kernel of op {}: a function is missing", kernel.op));
      return;
    }
    for (size_t c = 0; c < given.num_constraints; ++c) {
      const AssayTypeConstraint& constraint = given.constraints[c];
      std::vector<ElementType> types;
      for (size_t t = 0; t < constraint.num_types; ++t) {
        const std::optional<ElementType> type = proto::ElementTypeFromNumber(constraint.types[t]);
        if (!type) {
          status = InvalidProgram({}, fmt::format("kernel of op {}: no element type has the code {}",
                                                  kernel.op, constraint.types[t]));
          return;
        }
        types.push_back(*type);
      }
      kernel.constraints.emplace_back(ViewOf(constraint.attr), std::move(types));
    }
    for (size_t m = 0; m < given.num_host_memory; ++m)
      kernel.host_memory.emplace_back(ViewOf(given.host_memory[m]));
    registrations.kernels.push_back(std::move(kernel));
  }

  void Add(const AssayGradientDef& gradient) {
    registrations.gradients.push_back({std::string(ViewOf(gradient.op)), gradient.user, gradient.build});
  }
};

template <typename Struct>
void AddTo(void* self, const Struct* given) {
  static_cast<Collector*>(self)->Add(Whole(*given));
}

}  // namespace

std::string KernelDef::Text() const {
  std::string text = on_cpu ? "cpu" : "cuda";
  for (const auto& [attr, types] : constraints) {
    text += fmt::format(", {} in {{", attr);
    for (size_t t = 0; t < types.size(); ++t) text += fmt::format("{}{}", t > 0 ? ", " : "", Name(types[t]));
    text += "}";
  }
  if (!host_memory.empty()) text += fmt::format(", host memory for {}", fmt::join(host_memory, ", "));
  if (!label.empty()) text += fmt::format(", label '{}'", label);
  if (priority != 0) text += fmt::format(", priority {}", priority);
  return text;
}

absl::StatusOr<Registrations> Collect(const std::function<void(const AssayRegistrar*)>& tell) {
  Collector collector;
  AssayRegistrar registrar = {};
  registrar.size = sizeof(registrar);
  registrar.self = &collector;
  registrar.op = AddTo<AssayOp>;
  registrar.kernel = AddTo<AssayKernel>;
  registrar.gradient = AddTo<AssayGradientDef>;
  registrar.fail = [](void* self, AssayText message) {
    absl::Status& status = static_cast<Collector*>(self)->status;
    if (status.ok()) status = BadInput(fmt::format("it can't register: {}", ViewOf(message)));
  };
  try {
    tell(&registrar);
  } catch (const std::exception& thrown) {
    return BadInput(fmt::format("it threw while it registered: {}", thrown.what()));
  } catch (...) {
    return BadInput("it threw while it registered");
  }
  if (!collector.status.ok()) return collector.status;
  return std::move(collector.registrations);
}

}  // namespace assay::custom
