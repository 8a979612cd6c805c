// Shardings and the Shardy dialect: the inverse of import/sharding.cc. What XLA writes in HLO for a program
// of that dialect is written as the dialect again; where it can't be (a sharding that does
// not fit its value, a region whose border is used elsewhere), custom calls and frontend
// attributes stay what they are.
#include <algorithm>
#include <optional>

#include "absl/strings/numbers.h"
#include "base/hash_map.h"
#include "fmt/format.h"
#include "hlo/manual_region.h"
#include "hlo/mlir/export/exporter.h"
#include "hlo/mlir/text_writer.h"
#include "hlo/sharding_syntax.h"
#include "hlo/text/sharding_text.h"

namespace assay::mlir {
namespace {

using Types = Syntax::Types;

std::string_view TargetOf(const Instruction& instruction) {
  return instruction.opcode == Opcode::kCustomCall ? instruction.attributes.Text(Attr::kCustomCallTarget)
                                                   : std::string_view();
}

int64_t RankOf(const Shape& shape) { return shape.IsArray() ? shape.rank() : 0; }

bool Fits(std::span<const NamedMesh> meshes, const Sharding& sharding, int64_t rank) {
  const absl::StatusOr<const Mesh*> mesh = FindMesh(meshes, sharding);
  return mesh.ok() && CheckSharding(sharding, **mesh, rank).ok();
}

// "3 : i64"
std::optional<int64_t> NumberOf(const std::string* text) {
  int64_t number = 0;
  if (text == nullptr) return std::nullopt;
  const std::string digits = text->substr(0, text->find(' '));
  return absl::SimpleAtoi(digits, &number) ? std::optional(number) : std::nullopt;
}

// Who uses each instruction of a computation.
std::vector<std::vector<int32_t>> UsersOf(const Computation& computation) {
  std::vector<std::vector<int32_t>> users(computation.instructions.size());
  for (size_t i = 0; i < computation.instructions.size(); ++i) {
    for (const int32_t operand : computation.instructions[i].operands)
      users[static_cast<size_t>(operand)].push_back(static_cast<int32_t>(i));
  }
  return users;
}

// Whether `values`, in order, are all that is made of `whole`, and `user` alone takes them: itself,
// or its elements.
class Plumbing {
 public:
  explicit Plumbing(const Computation& computation)
      : computation_(computation), users_(UsersOf(computation)) {}

  bool AllGoesTo(int32_t whole, int32_t user, std::vector<int32_t>* elements) const {
    if (whole == computation_.root) return false;
    const Instruction& giver = At(whole);
    const Instruction& taker = At(user);
    if (!giver.shape->IsTuple())
      return taker.operands.size() == 1 && taker.operands[0] == whole && IsOnlyUser(whole, user);
    if (taker.operands.size() != giver.shape->elements().size()) return false;
    for (size_t i = 0; i < taker.operands.size(); ++i) {
      const int32_t element = taker.operands[i];
      const Instruction& taken = At(element);
      if (taken.opcode != Opcode::kGetTupleElement || taken.operands[0] != whole ||
          taken.attributes.Int(Attr::kIndex) != static_cast<int64_t>(i) || !IsOnlyUser(element, user) ||
          element == computation_.root)
        return false;
      elements->push_back(element);
    }
    return Users(whole).size() == taker.operands.size();
  }
  bool IsUnused(int32_t index) const { return Users(index).empty() && index != computation_.root; }

 private:
  const Instruction& At(int32_t index) const { return computation_.instructions[static_cast<size_t>(index)]; }
  const std::vector<int32_t>& Users(int32_t index) const { return users_[static_cast<size_t>(index)]; }
  bool IsOnlyUser(int32_t index, int32_t user) const {
    return Users(index).size() == 1 && Users(index)[0] == user;
  }

  const Computation& computation_;
  const std::vector<std::vector<int32_t>> users_;
};

bool HaveTuples(std::span<const Shape> shapes) {
  return std::ranges::any_of(shapes, [](const Shape& shape) { return shape.IsTuple(); });
}

// The shapes of a value that is one, or a tuple of several.
std::vector<Shape> PartsOf(const Shape& shape) {
  if (!shape.IsTuple()) return {shape};
  return {shape.elements().begin(), shape.elements().end()};
}

// A border whose shardings fit the global shapes.
std::optional<ManualBorder> CheckedBorder(std::span<const NamedMesh> meshes, const Instruction& call,
                                          std::span<const Shape> global) {
  absl::StatusOr<ManualBorder> border = BorderOf(meshes, call);
  if (!border.ok() || border->shardings.size() != global.size() || HaveTuples(global)) return std::nullopt;
  for (size_t i = 0; i < global.size(); ++i) {
    if (!Fits(meshes, border->shardings[i], RankOf(global[i]))) return std::nullopt;
  }
  return *std::move(border);
}

}  // namespace

void Exporter::FindMeshes() {
  absl::StatusOr<std::vector<NamedMesh>> meshes = MeshesOf(module_);
  if (!meshes.ok()) return;
  for (const NamedMesh& mesh : *meshes) {
    if (used_names_.contains(mesh.name)) return;
  }
  meshes_ = *std::move(meshes);
  for (const NamedMesh& mesh : meshes_) used_names_.insert(mesh.name);
}

void Exporter::WriteMeshes() {
  for (const NamedMesh& mesh : meshes_)
    out_ += fmt::format("  sdy.mesh {} = {}\n", SymbolText(mesh.name), ToString(mesh.mesh));
}

// The regions of a computation that can be written as operations.
void Exporter::FindManualRegions(const Computation& computation) {
  const std::vector<ManualRegion> regions = ManualRegionsOf(module_, computation);
  if (regions.empty()) return;
  const Plumbing plumbing(computation);
  const auto at = [&](int32_t index) -> const Instruction& {
    return computation.instructions[static_cast<size_t>(index)];
  };
  for (const ManualRegion& region : regions) {
    const Instruction& call = at(region.call);
    RegionForm form;
    std::vector<int32_t> passed;
    const std::string* const axes_alone = FrontendAttribute(call, kManualAxes);
    if (region.enter >= 0) {
      std::vector<Shape> global;
      for (const int32_t operand : at(region.enter).operands) global.push_back(*at(operand).shape);
      const auto border = CheckedBorder(meshes_, at(region.enter), global);
      if (!border || global.empty() || HaveTuples(PartsOf(*at(region.enter).shape)) ||
          PartsOf(*at(region.enter).shape).size() != global.size() ||
          !plumbing.AllGoesTo(region.enter, region.call, &passed))
        continue;
      passed.push_back(region.enter);
      form.axes = AxesText(border->manual_axes);
      form.in_shardings = ToString(border->shardings);
    } else if (!call.operands.empty()) {
      continue;
    }
    if (region.leave >= 0) {
      const std::vector<Shape> global = PartsOf(*at(region.leave).shape);
      const auto border = CheckedBorder(meshes_, at(region.leave), global);
      if (!border || global.empty() || HaveTuples(PartsOf(*call.shape)) ||
          PartsOf(*call.shape).size() != global.size() ||
          !plumbing.AllGoesTo(region.call, region.leave, &passed))
        continue;
      if (region.enter >= 0 && AxesText(border->manual_axes) != form.axes) continue;
      form.axes = AxesText(border->manual_axes);
      form.out_shardings = ToString(border->shardings);
    } else if (!call.shape->IsTuple() || !call.shape->elements().empty() || !plumbing.IsUnused(region.call)) {
      continue;
    }
    if (region.enter < 0 && region.leave < 0) {
      if (axes_alone == nullptr) continue;
      const absl::StatusOr<std::vector<std::string>> axes = ParseManualAxes(*axes_alone);
      if (!axes.ok()) continue;
      form.axes = AxesText(*axes);
    }
    form.region = region;
    if (region.leave >= 0) passed.push_back(region.leave);
    for (const int32_t index : passed) passed_over_.insert(&at(index));
    region_forms_.emplace(&call, std::move(form));
  }
}

bool Exporter::IsRegion(const Instruction& call) const {
  if (region_forms_.contains(&call)) return true;
  const std::string* const op = FrontendAttribute(call, kShardingOp);
  return call.opcode == Opcode::kCall && op != nullptr && *op == "sdy.named_computation";
}

// manual_computation, named_computation. False: the call is an ordinary one.
bool ExportShardingRegion(OpExport& out) {
  Exporter& exporter = out.exporter;
  if (!exporter.IsRegion(out.hlo)) return false;
  const ComputationId body = *out.attributes().Computation(Attr::kToApply);
  const Exporter::RegionForm* const form = exporter.FormOf(out.hlo);
  if (form == nullptr) {
    const auto set = [&](std::string_view name, bool is_text) {
      const std::string* const text = FrontendAttribute(out.hlo, fmt::format("{}{}", kShardingField, name));
      if (text != nullptr) is_text ? out.Text(name, *text) : out.Property(name, *text);
    };
    set("in_shardings", false);
    set("name", true);
    set("out_shardings", false);
    out.LeaveOutFrontend(kShardingOp);
    out.UseOperands();
    out.Region(body, "sdy.return");
    out.Emit("sdy.named_computation");
    return true;
  }
  out.Property("in_shardings", fmt::format("#sdy.sharding_per_value<{}>", form->in_shardings));
  out.Property("manual_axes", fmt::format("#sdy<manual_axes{}>", form->axes));
  out.Property("out_shardings", fmt::format("#sdy.sharding_per_value<{}>", form->out_shardings));
  out.LeaveOutFrontend("inlineable");
  out.LeaveOutFrontend(kManualAxes);
  const ManualRegion& region = form->region;
  const std::vector<Instruction>& instructions = out.block.computation->instructions;
  if (region.enter >= 0) {
    for (const int32_t operand : instructions[static_cast<size_t>(region.enter)].operands)
      out.UseLeaves(out.block.nodes[static_cast<size_t>(operand)]);
  }
  out.Region(body, "sdy.return");
  const int32_t giving = region.leave >= 0 ? region.leave : region.call;
  const NodeId result = out.Make("sdy.manual_computation", *instructions[static_cast<size_t>(giving)].shape);
  if (out.ok()) out.block.nodes[static_cast<size_t>(giving)] = result;
  return true;
}

namespace {

// The sharding that a custom call with one result carries, if it fits.
std::optional<std::string> ShardingOfCall(const Exporter& exporter, const Instruction& call) {
  const std::string* const text = FrontendAttribute(call, kSharding);
  if (text == nullptr || call.shape->IsTuple()) return std::nullopt;
  const absl::StatusOr<std::vector<Sharding>> shardings = ParseShardings(*text);
  if (!shardings.ok() || shardings->size() != 1 ||
      !Fits(exporter.meshes(), (*shardings)[0], RankOf(*call.shape)))
    return std::nullopt;
  return ToString((*shardings)[0]);
}

bool ExportBarrier(OpExport& out) {
  constexpr std::string_view kDirections[] = {"NONE", "FORWARD", "BACKWARD"};
  const std::optional<int64_t> direction = NumberOf(FrontendAttribute(out.hlo, kAllowedDirection));
  if (!direction || *direction < 0 || *direction > 2 || out.num_operands() != 1) return false;
  out.LeaveOutFrontend(kAllowedDirection);
  out.UseOperands();
  out.Emit("sdy.propagation_barrier",
           {Types::kSame, {}, fmt::format(" allowed_direction={}", kDirections[*direction])});
  return true;
}

bool ExportGroup(OpExport& out) {
  const std::optional<int64_t> id = NumberOf(FrontendAttribute(out.hlo, kShardingGroupId));
  if (!id || out.num_operands() != 1 || out.OperandShape(0).IsTuple()) return false;
  out.LeaveOutFrontend(kShardingGroupId);
  out.UseOperands();
  out.Int("group_id", *id);
  out.Emit("sdy.sharding_group");
  return true;
}

// An operation that XLA has no form for: its attributes are in frontend attributes.
bool ExportMarked(OpExport& out, std::string_view op, const std::optional<std::string>& sharding) {
  if (!op.starts_with("sdy.") || out.num_operands() != 1) return false;
  const bool moves = op != "sdy.reshard" && op != "sdy.data_flow_edge" && op != "sdy.func_data_flow_edge";
  if (!sharding && (moves || op == "sdy.reshard")) return false;
  if (sharding) out.Property(moves ? "out_sharding" : "sharding", "#sdy.sharding" + *sharding);
  for (const auto& [key, value] : out.hlo.extras->frontend_attributes) {
    if (key.starts_with(kShardingField)) out.Property(key.substr(kShardingField.size()), value.text);
  }
  out.LeaveOutFrontend(kShardingOp);
  out.LeaveOutFrontend(kSharding);
  out.UseOperands();
  out.Emit(op);
  return true;
}

bool ExportConstraint(OpExport& out) {
  if (out.num_operands() != 1 || out.OperandShape(0).IsTuple()) return false;
  const std::optional<std::string> sharding = ShardingOfCall(out.exporter, out.hlo);
  if (const std::string* const op = FrontendAttribute(out.hlo, kShardingOp); op != nullptr)
    return ExportMarked(out, *op, sharding);
  if (!sharding) return false;
  out.LeaveOutFrontend(kSharding);
  out.UseOperands();
  out.Emit("sdy.sharding_constraint", {Types::kSame, {}, " " + *sharding});
  return true;
}

}  // namespace

bool ExportShardingCall(OpExport& out) {
  const std::string_view target = TargetOf(out.hlo);
  if (target == kFuncResultSharding && out.block.results_with_shardings.contains(out.index)) {
    out.Bind(out.Operand(0));
    return true;
  }
  if (target == "Sharding") return ExportConstraint(out);
  if (target == "xla.sdy.PropagationBarrier") return ExportBarrier(out);
  return target == "xla.sdy.ShardingGroup" && ExportGroup(out);
}

std::optional<std::string> Exporter::ShardingOf(const Instruction& instruction,
                                                std::span<const Shape* const> types) const {
  const std::string* const text = FrontendAttribute(instruction, kSharding);
  if (text == nullptr || meshes_.empty()) return std::nullopt;
  if (instruction.opcode == Opcode::kParameter) {
    const absl::StatusOr<Sharding> sharding = ParseSharding(*text);
    if (!sharding.ok() || types.size() != 1 || !Fits(meshes_, *sharding, RankOf(*types[0])))
      return std::nullopt;
    return "#sdy.sharding" + ToString(*sharding);
  }
  const absl::StatusOr<std::vector<Sharding>> shardings = ParseShardings(*text);
  if (!shardings.ok() || shardings->size() != std::max<size_t>(types.size(), 1)) return std::nullopt;
  for (size_t i = 0; i < shardings->size(); ++i) {
    if (!Fits(meshes_, (*shardings)[i], types.empty() ? 0 : RankOf(*types[i]))) return std::nullopt;
  }
  return fmt::format("#sdy.sharding_per_value<{}>", ToString(*shardings));
}

// mhlo.frontend_attributes = {...}, mhlo.sharding = "...", sdy.sharding = ...: what is left of the extras.
std::string Exporter::DiscardableAttributes(const Instruction& instruction,
                                            std::span<const Shape* const> types,
                                            std::span<const std::string_view> left_out) const {
  if (instruction.extras == nullptr) return {};
  const auto is_left_out = [&](std::string_view key) {
    return std::ranges::any_of(left_out, [&](std::string_view prefix) { return key.starts_with(prefix); });
  };
  std::string frontend, all;
  const auto add = [&](std::string_view name, std::string_view value) {
    all += fmt::format("{}{} = {}", all.empty() ? "" : ", ", name, value);
  };
  const std::optional<std::string> sharding =
      is_left_out(kSharding) ? std::nullopt : ShardingOf(instruction, types);
  std::string rule;
  for (const auto& [key, value] : instruction.extras->frontend_attributes) {
    if (is_left_out(key) || (key == kSharding && (sharding || !Gives(instruction, types)))) continue;
    if (key == kShardingRule && instruction.opcode == Opcode::kCustomCall) {
      const absl::StatusOr<std::string> canonical = CanonicalShardingRule(value.text);
      if (canonical.ok()) rule = *canonical;
      if (canonical.ok()) continue;
    }
    frontend += fmt::format("{}{} = {}", frontend.empty() ? "" : ", ", WordOrQuoted(key), Quoted(value.text));
  }
  if (!frontend.empty()) add("mhlo.frontend_attributes", fmt::format("{{{}}}", frontend));
  const std::string& hlo_sharding = instruction.extras->sharding;
  const bool has_own = FrontendAttribute(instruction, kSharding) != nullptr;
  if (!hlo_sharding.empty() && !has_own && Gives(instruction, types))
    add("mhlo.sharding", Quoted(hlo_sharding));
  if (sharding && Gives(instruction, types)) add("sdy.sharding", *sharding);
  if (!rule.empty()) add("sdy.sharding_rule", rule);
  return all;
}

// Whether these are the instruction's own results, and not those of an operation that it needs beside.
bool Exporter::Gives(const Instruction& instruction, std::span<const Shape* const> types) const {
  const std::vector<const Shape*> own = ResultTypes(*instruction.shape);
  if (types.size() == 1 && instruction.shape->IsTuple() && own.size() != 1)
    return types[0] == instruction.shape.get();
  return std::ranges::equal(own, types, [](const Shape* a, const Shape* b) {
    return a->IsArray() && b->IsArray() ? Shape::SameDimensions(*a, *b) : a->kind() == b->kind();
  });
}

// The instructions that give the results of a function one by one; empty: it gives them otherwise.
std::vector<int32_t> Exporter::ResultInstructions(const Computation& computation, bool is_entry) const {
  const auto at = [&](int32_t index) -> const Instruction& {
    return computation.instructions[static_cast<size_t>(index)];
  };
  const Instruction* const root = &at(computation.root);
  const bool is_list = root->shape->IsTuple() && (!is_entry || root->shape->elements().size() != 1);
  if (is_list) {
    if (root->opcode != Opcode::kTuple || HaveTuples(root->shape->elements())) return {};
    return {root->operands.begin(), root->operands.end()};
  }
  if (root->shape->IsTuple()) return {};
  // XLA gives a single result with a sharding as the element of a tuple.
  if (root->opcode == Opcode::kGetTupleElement && at(root->operands[0]).opcode == Opcode::kTuple)
    return {at(root->operands[0]).operands[static_cast<size_t>(root->attributes.Int(Attr::kIndex))]};
  return {computation.root};
}

std::vector<std::string> Exporter::ResultShardings(Block& block, bool is_entry) const {
  const Computation& computation = *block.computation;
  const std::vector<int32_t> results = ResultInstructions(computation, is_entry);
  std::vector<std::string> attributes(results.size());
  bool has_some = false;
  for (size_t i = 0; i < results.size(); ++i) {
    const Instruction& result = computation.instructions[static_cast<size_t>(results[i])];
    if (TargetOf(result) != kFuncResultSharding || result.operands.size() != 1) continue;
    const std::optional<std::string> sharding = ShardingOfCall(*this, result);
    if (!sharding) continue;
    block.results_with_shardings.insert(results[i]);
    attributes[i] = "sdy.sharding = #sdy.sharding" + *sharding;
    has_some = true;
  }
  const Instruction& root = computation.root_instruction();
  const bool is_plumbing = root.opcode == Opcode::kTuple || root.opcode == Opcode::kGetTupleElement;
  if (has_some || !is_plumbing || root.extras == nullptr || root.extras->sharding.empty()) return attributes;
  const std::vector<std::string> leaves = LeafShardings(root.extras->sharding);
  for (size_t i = 0; i < leaves.size() && leaves.size() == results.size(); ++i)
    attributes[i] = "mhlo.sharding = " + Quoted(leaves[i]);
  return attributes;
}

}  // namespace assay::mlir
