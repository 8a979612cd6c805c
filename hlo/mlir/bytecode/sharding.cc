// Attributes and operations of the Shardy dialect in bytecode (docs/spec/stablehlo-bytecode.md, section 9):
// as the text that they have in the generic form.
#include "base/limits.h"
#include "fmt/format.h"
#include "hlo/mlir/bytecode/reader.h"
#include "hlo/sharding_syntax.h"

namespace assay::mlir {
namespace {

constexpr std::string_view kShardingPrefix = "#sdy.sharding";

// The attributes that an operation has as properties, in their order; '?' before one that may be missing.
struct PropertyRow {
  std::string_view operation;
  std::string_view properties[3];
};
constexpr PropertyRow kPropertyRows[] = {
    {"sdy.mesh", {"mesh", "sym_name"}},
    {"sdy.sharding_constraint", {"sharding"}},
    {"sdy.reshard", {"sharding"}},
    {"sdy.manual_computation", {"in_shardings", "manual_axes", "out_shardings"}},
    {"sdy.named_computation", {"?in_shardings", "name", "?out_shardings"}},
    {"sdy.propagation_barrier", {"allowed_direction"}},
    {"sdy.sharding_group", {"group_id"}},
    {"sdy.data_flow_edge", {"?sharding"}},
};

// i to z, then z_1, z_2, ...
std::string FactorName(int64_t factor) {
  if (factor < 0 || factor > 17) return fmt::format("z_{}", factor - 17);
  return std::string(1, static_cast<char>('i' + factor));
}

}  // namespace

bool BytecodeReader::DecodeShardingProperties(const OpName& name, Range range, Fields* attributes) {
  const PropertyRow* row = nullptr;
  for (const PropertyRow& known : kPropertyRows) {
    if (known.operation == name.name) row = &known;
  }
  if (row == nullptr)
    return range.begin == range.end || Refuse(NotSupported({}, fmt::format("properties of '{}'", name.name)));
  Cursor entry(file_, range.begin, range.end);
  std::vector<NamedAttribute> read;
  for (std::string_view property : row->properties) {
    if (property.empty()) break;
    const bool is_optional = property[0] == '?';
    const Attribute* const value = is_optional ? OptionalAttribute(entry) : AttributeAt(entry);
    if (!entry.ok()) return Failed(entry);
    if (value != nullptr) read.push_back({property.substr(is_optional ? 1 : 0), value});
  }
  if (entry.left() > 0) return RefuseBehind(entry, name);
  *attributes = arena_.Copy(read);
  return true;
}

// "open item, item close" of a list of attributes whose texts are kept without `prefix`.
std::string BytecodeReader::ShardingList(Cursor& in, std::string_view open, std::string_view prefix,
                                         std::string_view close) {
  std::string text(open);
  const size_t count = in.Count();
  for (size_t i = 0; i < count && in.ok(); ++i) {
    if (i > 0) text += ", ";
    const Attribute* const item = AttributeAt(in);
    if (item == nullptr) break;
    std::string_view part = item->text;
    if (!prefix.empty() && part.starts_with(prefix)) part.remove_prefix(prefix.size());
    // Lists share their parts, so a short file can write a long text.
    constexpr size_t kMaxText = size_t{1} << 20, kMaxInAll = size_t{1} << 26;
    sharding_text_ += part.size();
    if (text.size() + part.size() > kMaxText || sharding_text_ > kMaxInAll) {
      in.Fail("a sharding has too many parts");
      break;
    }
    text += part;
  }
  text += close;
  return text;
}

// code 6, 15, 17: mesh, dimensions, replicated axes; unreduced axes; their reduction.
std::string BytecodeReader::ShardingText(Cursor& in, uint64_t code) {
  const Attribute* const mesh = AttributeAt(in);
  if (mesh == nullptr) return {};
  std::string text = "#sdy.sharding<";
  text += mesh->kind == Attribute::Kind::kOpaque && mesh->text.starts_with("#sdy.mesh")
              ? "mesh" + std::string(mesh->text.substr(9))
              : SymbolText(mesh->text);
  text += ShardingList(in, ", [", {}, "]");
  const auto add_axes = [&](std::string_view name, const std::string& axes) {
    if (axes != "{}") text += fmt::format(", {}={}", name, axes);
  };
  add_axes("replicated", ShardingList(in, "{", {}, "}"));
  if (code >= 15) {
    const std::string axes = ShardingList(in, "{", {}, "}");
    const int64_t reduction = code == 17 ? in.Signed() : 0;
    if (reduction < 0 || reduction > 2) in.Fail(fmt::format("found reduction {} of a sharding", reduction));
    add_axes("unreduced", (reduction == 1 ? "max " : reduction == 2 ? "min " : "") + axes);
  }
  return text + '>';
}

std::string BytecodeReader::MeshText(Cursor& in) {
  std::string text = ShardingList(in, "#sdy.mesh<[", {}, "]");
  const size_t count = in.Count();
  for (size_t i = 0; i < count && in.ok(); ++i)
    text += fmt::format("{}{}", i == 0 ? ", device_ids=[" : ", ", in.Signed());
  return text + (count > 0 ? "]>" : ">");
}

// A list of axes, whether it is closed, and a priority.
std::string BytecodeReader::DimensionText(Cursor& in) {
  std::string text = ShardingList(in, "{", {}, "");
  const bool is_closed = in.Byte() != 0;
  bool has_priority = false;
  const uint64_t priority = in.WithFlag(&has_priority);
  if (!is_closed) text += text.size() == 1 ? "?" : ", ?";
  text += '}';
  return has_priority ? text + fmt::format("p{}", priority) : text;
}

// "open factor separator factor close" of a list of factors.
std::string BytecodeReader::FactorsText(Cursor& in, std::string_view open, std::string_view separator,
                                        std::string_view close) {
  std::string text(open);
  const size_t count = in.Count();
  for (size_t i = 0; i < count && in.ok(); ++i) {
    if (i > 0) text += separator;
    text += FactorName(in.Signed());
  }
  return count == 0 ? std::string() : text.append(close);
}

// Sizes of factors, what the operands' and the results' dimensions are made of, kinds of factors, and whether
// the rule is a user's own.
std::string BytecodeReader::RuleText(Cursor& in) {
  std::string sizes;
  const size_t count = in.Count();
  for (size_t i = 0; i < count && in.ok(); ++i) {
    sizes += i == 0 ? " {" : ", ";
    sizes += fmt::format("{}={}", FactorName(static_cast<int64_t>(i)), in.Signed());
  }
  if (count > 0) sizes += '}';
  std::string text = ShardingList(in, "#sdy.op_sharding_rule<(", {}, ")->");
  text += ShardingList(in, "(", {}, ")") + sizes;
  for (const std::string_view kind : {"reduction", "need_replication", "permutation", "blocked_propagation"})
    text += FactorsText(in, fmt::format(" {}={{", kind), ", ", "}");
  return text + (in.Byte() != 0 ? ", custom>" : ">");
}

void BytecodeReader::ReadShardingAttribute(Cursor& in, uint64_t code, Attribute* attribute) {
  tree_->has_shardings = true;
  std::string text;
  switch (code) {
    case 0: {
      const size_t count = in.Count();
      std::vector<std::string> axes;
      for (size_t i = 0; i < count && in.ok(); ++i) {
        const Attribute* const axis = AttributeAt(in);
        if (axis != nullptr) axes.emplace_back(axis->text);
      }
      text = fmt::format("#sdy<manual_axes{}>", AxesText(axes));
      break;
    }
    case 1:
      text = QuotedName(String(in));
      text += fmt::format("={}", in.Signed());
      break;
    case 2:
      text = MeshText(in);
      break;
    case 3:
      text = fmt::format("({})", in.Signed());
      text += fmt::format("{}", in.Signed());
      break;
    case 4: {
      text = QuotedName(String(in));
      const Attribute* const part = OptionalAttribute(in);
      if (part != nullptr) text += fmt::format(":{}", part->text);
      break;
    }
    case 5:
      text = DimensionText(in);
      break;
    case 6:
    case 15:
    case 17:
      text = ShardingText(in, code);
      break;
    case 7:
    case 16:
      text = ShardingList(in, "#sdy.sharding_per_value<[", kShardingPrefix, "]>");
      break;
    case 8:
      text = FactorsText(in, {}, {}, {});
      break;
    case 9:
      text = ShardingList(in, "[", {}, "]");
      break;
    case 10:
      text = RuleText(in);
      break;
    default:  // of what stands after propagation
      attribute->text = "an attribute of the Shardy dialect";
      in.Bytes(in.left());
      return;
  }
  if (!in.ok()) return;
  const absl::StatusOr<std::string> canonical = CanonicalSdyAttribute(text);
  if (!canonical.ok()) return in.Fail(std::string(canonical.status().message()));
  attribute->text = arena_.Copy(*canonical);
}

}  // namespace assay::mlir
