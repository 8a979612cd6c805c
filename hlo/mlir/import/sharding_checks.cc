#include "hlo/mlir/import/sharding_checks.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "base/counted.h"
#include "fmt/format.h"
#include "hlo/sharding_syntax.h"

namespace assay::mlir {
namespace {

using AxisNames = std::vector<std::string>;

bool Contains(const AxisNames& axes, std::string_view axis) {
  return std::ranges::find(axes, axis) != axes.end();
}

int64_t NumDimensions(const Type& type) {
  return type.kind == Type::Kind::kTensor ? static_cast<int64_t>(type.sizes.size()) : 0;
}

std::vector<const AxisRef*> AxesOf(const Sharding& sharding) {
  std::vector<const AxisRef*> axes;
  for (const DimSharding& dim : sharding.dims) {
    for (const AxisRef& axis : dim.axes) axes.push_back(&axis);
  }
  for (const AxisRef& axis : sharding.replicated) axes.push_back(&axis);
  for (const AxisRef& axis : sharding.unreduced) axes.push_back(&axis);
  return axes;
}

class Checker {
 public:
  explicit Checker(const Tree& tree) : tree_(tree) {}

  absl::Status Run() {
    std::span<Operation* const> top = tree_.top->operations;
    if (top.size() == 1 && top[0]->name == "builtin.module" && top[0]->regions.size() == 1) {
      ReadCounts(*top[0]);
      top = top[0]->regions[0].operations;
    }
    for (const Operation* operation : top) {
      if (operation->name == "sdy.mesh") ASSAY_RETURN_IF_ERROR(At(*operation, AddMesh(*operation)));
    }
    for (const Operation* operation : top) ASSAY_RETURN_IF_ERROR(Check(*operation));
    return absl::OkStatus();
  }

 private:
  absl::Status At(const Operation& operation, const absl::Status& status) const {
    return tree_.WithPlace(status, operation);
  }

  void ReadCounts(const Operation& module) {
    if (const Attribute* count = module.Find("mhlo.num_partitions"); count != nullptr)
      num_partitions_ = count->integer;
    if (const Attribute* count = module.Find("mhlo.num_replicas"); count != nullptr)
      num_replicas_ = count->integer;
  }

  absl::Status AddMesh(const Operation& operation) {
    const Attribute* const name = operation.Find("sym_name");
    const Attribute* const mesh = operation.Find("mesh");
    if (name == nullptr || mesh == nullptr) return InvalidProgram({}, "sdy.mesh: want sym_name and mesh");
    if (meshes_.size() == kMaxMeshes) return NotSupported({}, fmt::format("more than {} meshes", kMaxMeshes));
    for (const NamedMesh& known : meshes_) {
      if (known.name == name->text)
        return InvalidProgram({}, fmt::format("sdy.mesh: {} is defined twice", SymbolText(name->text)));
    }
    ASSAY_ASSIGN_OR_RETURN(Mesh parsed, ParseMesh(mesh->text));
    meshes_.push_back({std::string(name->text), std::move(parsed)});
    return absl::OkStatus();
  }

  absl::Status Check(const Operation& operation) {
    ASSAY_RETURN_IF_ERROR(At(operation, CheckOne(operation)));
    const bool is_manual = operation.name == "sdy.manual_computation";
    const size_t outside = manual_.size();
    if (is_manual) ASSAY_RETURN_IF_ERROR(At(operation, CheckManual(operation)));
    for (const Region& region : operation.regions) {
      for (const Operation* inner : region.operations) ASSAY_RETURN_IF_ERROR(Check(*inner));
    }
    manual_.resize(outside);
    return absl::OkStatus();
  }

  // All but the region of a manual computation.
  absl::Status CheckOne(const Operation& operation) {
    if (operation.name == "func.func") return CheckFunction(operation);
    if (const Attribute* value = operation.Find("sdy.sharding"); value != nullptr)
      ASSAY_RETURN_IF_ERROR(CheckResults(*value, operation));
    if (!operation.name.starts_with("sdy.")) return absl::OkStatus();
    for (const std::string_view name : {"sharding", "out_sharding"}) {
      const Attribute* const sharding = operation.Find(name);
      if (sharding == nullptr || operation.operands.size() != 1) continue;
      ASSAY_RETURN_IF_ERROR(CheckText(sharding->text, *operation.operands[0]->type).status());
    }
    if (operation.name == "sdy.propagation_barrier") {
      const Attribute* const direction = operation.Find("allowed_direction");
      if (direction == nullptr || direction->integer < 0 || direction->integer > 2)
        return InvalidProgram({}, "SDY-V16: a propagation barrier wants NONE, FORWARD or BACKWARD");
    }
    return operation.name == "sdy.named_computation" ? CheckNamed(operation) : absl::OkStatus();
  }

  // One sharding for a value of this type.
  absl::StatusOr<const Mesh*> CheckValue(const Sharding& sharding, const Type& type) const {
    ASSAY_ASSIGN_OR_RETURN(const Mesh* const mesh, FindMesh(meshes_, sharding));
    ASSAY_RETURN_IF_ERROR(CheckSharding(sharding, *mesh, NumDimensions(type)));
    if (type.kind != Type::Kind::kTensor && !(sharding.replicated.empty() && sharding.unreduced.empty())) {
      return InvalidProgram(
          {}, fmt::format("SDY-V4: sharding {} of a {} wants no axes", ToString(sharding), ToString(type)));
    }
    for (const AxisRef* axis : AxesOf(sharding)) {
      if (!Contains(manual_, axis->axis)) continue;
      return InvalidProgram({}, fmt::format("SDY-V10: sharding {} names the axis {}, which is manual here",
                                            ToString(sharding), QuotedName(axis->axis)));
    }
    return mesh;
  }

  absl::StatusOr<const Mesh*> CheckText(std::string_view text, const Type& type) const {
    ASSAY_ASSIGN_OR_RETURN(const Sharding sharding, ParseSharding(text));
    return CheckValue(sharding, type);
  }

  // SDY-V9: on an operation, a sharding for each result; of rank 0 where there is none.
  absl::Status CheckResults(const Attribute& value, const Operation& operation) const {
    if (!value.text.starts_with("#sdy.sharding_per_value"))
      return InvalidProgram(
          {}, fmt::format("SDY-V9: {}: sdy.sharding is {}, want #sdy.sharding_per_value<...>", operation.name,
                          value.text));
    ASSAY_ASSIGN_OR_RETURN(const std::vector<Sharding> shardings, ParseShardings(value.text));
    const size_t count = operation.results.size();
    if (shardings.size() != count && !(count == 0 && shardings.size() == 1)) {
      return InvalidProgram({}, fmt::format("SDY-V9: {}: found {} for {}", operation.name,
                                            Counted(shardings.size(), "sharding"), Counted(count, "result")));
    }
    static const Type kNoValue;
    for (size_t i = 0; i < shardings.size(); ++i)
      ASSAY_RETURN_IF_ERROR(
          CheckValue(shardings[i], i < count ? *operation.results[i].type : kNoValue).status());
    return absl::OkStatus();
  }

  absl::Status CheckFunction(const Operation& function) const {
    const Attribute* const type = function.Find("function_type");
    if (type == nullptr || type->type == nullptr) return absl::OkStatus();  // refused where it is imported
    const auto check = [&](std::string_view name, std::span<const Type* const> types) -> absl::Status {
      const Attribute* const all = function.Find(name);
      for (size_t i = 0; all != nullptr && i < all->elements.size() && i < types.size(); ++i) {
        const Attribute* const sharding = mlir::Find(all->elements[i]->fields, "sdy.sharding");
        if (sharding == nullptr) continue;
        if (!sharding->text.starts_with("#sdy.sharding<")) {
          return InvalidProgram({}, fmt::format("SDY-V9: sdy.sharding of an argument or result is {}, want "
                                                "#sdy.sharding<...>",
                                                sharding->text));
        }
        ASSAY_RETURN_IF_ERROR(CheckText(sharding->text, *types[i]).status());
      }
      return absl::OkStatus();
    };
    ASSAY_RETURN_IF_ERROR(check("arg_attrs", type->type->inputs));
    return check("res_attrs", type->type->results);
  }

  // SDY-V15: one block that ends with sdy.return and takes nothing from outside (SDY-12).
  absl::StatusOr<const Region*> CheckBody(const Operation& operation) const {
    const bool has_end = operation.regions.size() == 1 && !operation.regions[0].operations.empty() &&
                         operation.regions[0].operations.back()->name == "sdy.return";
    if (!has_end)
      return InvalidProgram(
          {}, fmt::format("SDY-V15: {} wants a body that ends with sdy.return", operation.name));
    const Region& body = operation.regions[0];
    if (body.captures.empty()) return &body;
    return InvalidProgram(
        {}, fmt::format("SDY-V15: the body of {} uses a value from outside of it", operation.name));
  }

  absl::Status CheckNamed(const Operation& operation) const {
    ASSAY_ASSIGN_OR_RETURN(const Region* const body, CheckBody(operation));
    const std::span<Value* const> given = body->operations.back()->operands;
    bool same =
        body->arguments.size() == operation.operands.size() && given.size() == operation.results.size();
    for (size_t i = 0; same && i < body->arguments.size(); ++i)
      same = SameType(*body->arguments[i].type, *operation.operands[i]->type);
    for (size_t i = 0; same && i < given.size(); ++i)
      same = SameType(*given[i]->type, *operation.results[i].type);
    if (!same) return InvalidProgram({}, "SDY-V15: a named computation wants the types of its body");
    const auto check = [&](std::string_view name, size_t count, auto&& type_of) -> absl::Status {
      const Attribute* const text = operation.Find(name);
      if (text == nullptr) return absl::OkStatus();
      ASSAY_ASSIGN_OR_RETURN(const std::vector<Sharding> shardings, ParseShardings(text->text));
      if (shardings.size() != count) {
        return InvalidProgram({}, fmt::format("SDY-V15: a named computation has {} of {}, want {}", name,
                                              Counted(shardings.size(), "value"), count));
      }
      for (size_t i = 0; i < count; ++i) ASSAY_RETURN_IF_ERROR(CheckValue(shardings[i], type_of(i)).status());
      return absl::OkStatus();
    };
    ASSAY_RETURN_IF_ERROR(check("in_shardings", operation.operands.size(),
                                [&](size_t i) -> const Type& { return *operation.operands[i]->type; }));
    return check("out_shardings", operation.results.size(),
                 [&](size_t i) -> const Type& { return *operation.results[i].type; });
  }

  // The checks that need the region; its axes are manual from then on.
  absl::Status CheckManual(const Operation& operation) {
    for (const std::string_view name : {"in_shardings", "out_shardings", "manual_axes"}) {
      if (operation.Find(name) == nullptr)
        return InvalidProgram({}, fmt::format("sdy.manual_computation: {} is missing", name));
    }
    ASSAY_ASSIGN_OR_RETURN(const Region* const body, CheckBody(operation));
    ASSAY_ASSIGN_OR_RETURN(const AxisNames axes, ParseManualAxes(operation.Find("manual_axes")->text));
    const Mesh* mesh = nullptr;
    std::vector<const Type*> global, local;
    for (const Value* operand : operation.operands) global.push_back(operand->type);
    for (const Value& argument : body->arguments) local.push_back(argument.type);
    ASSAY_RETURN_IF_ERROR(CheckSide(operation, "in_shardings", "operands", axes, global, local, &mesh));
    global.clear();
    local.clear();
    for (const Value& result : operation.results) global.push_back(result.type);
    for (const Value* given : body->operations.back()->operands) local.push_back(given->type);
    ASSAY_RETURN_IF_ERROR(CheckSide(operation, "out_shardings", "results", axes, global, local, &mesh));
    ASSAY_RETURN_IF_ERROR(CheckAxes(axes, mesh));
    manual_.insert(manual_.end(), axes.begin(), axes.end());
    return absl::OkStatus();
  }

  // SDY-V12, SDY-V17: on the mesh of a region SDY-5.
  absl::Status CheckAxes(const AxisNames& axes, const Mesh* mesh) const {
    for (const std::string& axis : axes) {
      if (mesh != nullptr && mesh->Find(axis) == nullptr) {
        return InvalidProgram({}, fmt::format("SDY-V12: mesh {} has no axis {}, which is to be manual",
                                              ToString(*mesh), QuotedName(axis)));
      }
      if (Contains(manual_, axis))
        return InvalidProgram({},
                              fmt::format("SDY-V12: axis {} is manual outside already", QuotedName(axis)));
    }
    if (num_replicas_.value_or(1) != 1) {
      return InvalidProgram({}, fmt::format("SDY-V17: a manual region in a program of {}, want 1",
                                            Counted(*num_replicas_, "replica")));
    }
    if (mesh == nullptr || !num_partitions_ || mesh->size() == *num_partitions_) return absl::OkStatus();
    return InvalidProgram(
        {}, fmt::format("SDY-V17: a manual region on a mesh of {} in a program of {}",
                        Counted(mesh->size(), "device"), Counted(*num_partitions_, "partition")));
  }

  // SDY-V11, SDY-V13, SDY-V14 for operands or results.
  absl::Status CheckSide(const Operation& operation, std::string_view name, std::string_view what,
                         const AxisNames& axes, std::span<const Type* const> global,
                         std::span<const Type* const> local, const Mesh** common) const {
    ASSAY_ASSIGN_OR_RETURN(const std::vector<Sharding> shardings, ParseShardings(operation.Find(name)->text));
    if (shardings.size() != global.size() || local.size() != global.size()) {
      return InvalidProgram(
          {}, fmt::format(
                  "SDY-V11: a manual computation has {} {}, {} of them in its body and {} {}, want as many "
                  "of each",
                  global.size(), what, local.size(), shardings.size(), name));
    }
    for (size_t i = 0; i < shardings.size(); ++i) {
      ASSAY_ASSIGN_OR_RETURN(const Mesh* const mesh, CheckValue(shardings[i], *global[i]));
      if (!mesh->IsEmpty()) {
        if (*common == nullptr) *common = mesh;
        if (!(**common == *mesh)) {
          return InvalidProgram(
              {}, fmt::format("SDY-V14: the shardings of a manual computation are on the meshes {} and {}",
                              ToString(**common), ToString(*mesh)));
        }
      }
      ASSAY_RETURN_IF_ERROR(CheckLocal(shardings[i], *mesh, axes, *global[i], *local[i]));
    }
    return absl::OkStatus();
  }

  // SDY-V13
  static absl::Status CheckLocal(const Sharding& sharding, const Mesh& mesh, const AxisNames& axes,
                                 const Type& global, const Type& local) {
    const auto differs = [&] {
      return InvalidProgram({},
                            fmt::format("SDY-V13: {} with sharding {} is {} in the body, which does not fit",
                                        ToString(global), ToString(sharding), ToString(local)));
    };
    if (global.kind != Type::Kind::kTensor) return SameType(global, local) ? absl::OkStatus() : differs();
    if (local.kind != Type::Kind::kTensor || local.sizes.size() != global.sizes.size() ||
        !SameType(*local.element_type, *global.element_type))
      return differs();
    for (size_t d = 0; d < sharding.dims.size(); ++d) {
      int64_t count = 1;
      bool is_free = false;
      for (const AxisRef& axis : sharding.dims[d].axes) {
        const bool is_manual = Contains(axes, axis.axis);
        if (is_manual && is_free) {
          return InvalidProgram({},
                                fmt::format("SDY-V13: sharding {}: manual axis {} stands behind a free one",
                                            ToString(sharding), ToString(axis)));
        }
        is_free |= !is_manual;
        if (is_manual) count *= axis.IsWhole() ? mesh.Find(axis.axis)->size : axis.part;
      }
      const int64_t size = global.sizes[d];
      const bool fits =
          size == kDynamicSize ? local.sizes[d] == size : size % count == 0 && local.sizes[d] == size / count;
      if (!fits) return differs();
    }
    return absl::OkStatus();
  }

  const Tree& tree_;
  std::vector<NamedMesh> meshes_;
  AxisNames manual_;  // of the regions around
  std::optional<int64_t> num_partitions_, num_replicas_;
};

}  // namespace

absl::Status CheckShardings(const Tree& tree) { return Checker(tree).Run(); }

}  // namespace assay::mlir
