// What applies a computation again and again: the order of applications,
// and how often the initial value takes part.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <vector>

#include "evaluator/audits/rules.h"
#include "evaluator/eval_context.h"
#include "evaluator/registry.h"
#include "evaluator/scalar_function.h"
#include "fmt/format.h"
#include "literal/element_io.h"
#include "literal/literal_text.h"
#include "shape/index.h"

namespace assay::audit {
namespace {

// The operation that is applied to both parameters.
std::optional<Opcode> OnBoth(const Module& module, ComputationId id) {
  const Computation& computation = module.computation(id);
  const Instruction& root = computation.root_instruction();
  if (computation.parameters.size() != 2 || root.operands.size() != 2) return std::nullopt;
  const int32_t a = computation.parameters[0], b = computation.parameters[1];
  const bool both =
      (root.operands[0] == a && root.operands[1] == b) || (root.operands[0] == b && root.operands[1] == a);
  return both ? std::optional(root.opcode) : std::nullopt;
}

constexpr std::string_view kUnknownNote = "nobody knows the reducer to be commutative and associative";

// Applications of the reducer that a result element takes, by the shapes.
int64_t TermsOf(const Shape& data, const Shape& result) {
  const int64_t results = std::max<int64_t>(result.num_elements(), 1);
  return data.num_elements() / results + (data.num_elements() % results == 0 ? 0 : 1);
}

const Shape& FirstOf(const Shape& shape) { return shape.IsTuple() ? shape.element(0) : shape; }
const Literal& FirstOf(const Literal& value) { return value.shape().IsTuple() ? value.element(0) : value; }

// --- the initial value

// Whether f(init, x) = x for every x of the operations that are known.
bool IsIdentity(Opcode op, const Literal& init) {
  const ElementType type = init.shape().element_type();
  const bool is_float = IsFloat(type);
  const double real = is_float ? init.GetDouble(0) : 0;
  const int64_t integer = is_float || IsComplex(type) ? 0 : init.GetInt(0);
  const auto is = [&](double wanted) {
    return is_float ? real == wanted : integer == static_cast<int64_t>(wanted);
  };
  const IntegerRange all = is_float || IsComplex(type) ? IntegerRange{0, 0} : IntegerRange::Of(type);
  const absl::int128 value =
      IsUnsignedIntegral(type) ? absl::int128(static_cast<uint64_t>(integer)) : integer;
  const bool has_infinity = is_float && Info(type).format->has_infinity();
  const double most = is_float ? (has_infinity ? INFINITY : Info(type).format->max_finite) : 0;
  switch (op) {
    case Opcode::kAdd:
    case Opcode::kOr:
    case Opcode::kXor:
      return is(0);
    case Opcode::kMultiply:
      return is(1);
    case Opcode::kAnd:
      return type == ElementType::kPred || IsUnsignedIntegral(type) ? value == all.high : integer == -1;
    case Opcode::kMaximum:
      return is_float ? real == -most : value == all.low;
    case Opcode::kMinimum:
      return is_float ? real == most : value == all.high;
    default:
      return false;
  }
}

// Compares f(init, x) with x, for all x of the operands, a strip at a time.
class InitCheck {
 public:
  InitCheck(AuditContext& c, ScalarFunction& f, size_t arrays) : c_(c), f_(f), arrays_(arrays) {
    for (size_t k = 0; k < arrays; ++k)
      results_.emplace_back(static_cast<size_t>(kStrip * Bytes(f.output_type(static_cast<int64_t>(k)))));
  }

  void Run() {
    const int64_t n = c_.Operand(0)->shape().num_elements();
    Dependence found;
    found.of = n;
    for (int64_t begin = 0; begin < n; begin += kStrip) {
      const int64_t count = std::min(kStrip, n - begin);
      if (!c_.Charge(count) || !Apply(begin, count)) return;
      for (int64_t i = 0; i < count; ++i) {
        if (IsIdentityAt(begin, i) || found.count++ > 0) continue;
        found.first = Text(begin, i);
      }
    }
    c_.RecordFound(AuditPoint::kInitNotIdentity, found);
  }

 private:
  bool Apply(int64_t begin, int64_t count) {
    std::vector<const std::byte*> in;
    std::vector<int64_t> strides, out_strides;
    std::vector<std::byte*> out;
    for (size_t k = 0; k < arrays_; ++k) {
      in.push_back(c_.Operand(arrays_ + k)->data());
      strides.push_back(0);
    }
    for (size_t k = 0; k < arrays_; ++k) {
      const Literal& data = *c_.Operand(k);
      const int64_t bytes = Bytes(data.shape().element_type());
      in.push_back(data.data() + begin * bytes);
      strides.push_back(bytes);
      out.push_back(results_[k].data());
      out_strides.push_back(bytes);
    }
    const absl::Status status = f_.Run(count, in, strides, out, out_strides);
    if (!status.ok()) c_.Fail(status);
    return status.ok();
  }

  // Zeros are equal, and NaNs.
  bool IsIdentityAt(int64_t begin, int64_t i) const {
    for (size_t k = 0; k < arrays_; ++k) {
      const Literal& data = *c_.Operand(k);
      const ElementType type = data.shape().element_type();
      const std::byte *const was = data.data() + (begin + i) * Bytes(type), *const is = results_[k].data() +
                                                                                        i * Bytes(type);
      if (std::memcmp(was, is, static_cast<size_t>(Bytes(type))) == 0) continue;
      const ScalarValue a = LoadElement(type, was), b = LoadElement(type, is);
      if (IsFloat(type) && (a.r == b.r || (std::isnan(a.r) && std::isnan(b.r)))) continue;
      if (IsComplex(type) && a.c == b.c) continue;
      return false;
    }
    return true;
  }

  std::string Text(int64_t begin, int64_t i) const {
    const Literal &data = *c_.Operand(0), &init = *c_.Operand(arrays_);
    const ElementType type = data.shape().element_type();
    return fmt::format("{}: f({}, {}) = {}", IndexText(begin + i, data.shape().sizes()),
                       ElementToText(type, init.data()),
                       ElementToText(type, data.data() + (begin + i) * Bytes(type)),
                       ElementToText(type, results_[0].data() + i * Bytes(type)));
  }

  AuditContext& c_;
  ScalarFunction& f_;
  const size_t arrays_;
  std::vector<std::vector<std::byte>> results_;
};

// Operands are `arrays` arrays and as many initial values.
void Init(AuditContext& c, ComputationId id, size_t arrays) {
  const std::optional<Opcode> op = OnBoth(c.module(), id);
  const Literal* init = c.Operand(arrays);
  if (c.run() == nullptr) {
    if (CombinerOf(c.module(), id) == Combiner::kUnknown || init == nullptr) {
      c.RecordPossible(AuditPoint::kInitNotIdentity);
    } else if (arrays != 1 || !op.has_value() || !IsIdentity(*op, *init)) {
      c.Always(AuditPoint::kInitNotIdentity,
               fmt::format("init {}", ElementToText(init->shape().element_type(), init->data())));
    }
    return;
  }
  const absl::StatusOr<ScalarFunction*> function = c.run()->Scalar(id);
  if (!function.ok()) return c.Fail(function.status());
  for (size_t k = 0; k < 2 * arrays; ++k) {
    // Operands that are converted first are left to the text.
    if ((*function)->input_type(static_cast<int64_t>(k % arrays)) != c.operand_type(k) ||
        (*function)->input_type(static_cast<int64_t>(arrays + k % arrays)) != c.operand_type(k))
      return;
  }
  InitCheck(c, **function, arrays).Run();
}

// --- the order

// The array with these dimensions turned round.
absl::StatusOr<Literal> Reversed(EvalContext& context, const Literal& array, std::span<const int64_t> dims) {
  ASSAY_ASSIGN_OR_RETURN(Literal result, context.NewLiteral(array.shared_shape()));
  const std::span<const int64_t> sizes = array.shape().sizes();
  const int64_t bytes = Bytes(array.shape().element_type());
  const DimVector strides = RowMajorStrides(sizes);
  std::byte* to = result.MutableBytes().data();
  DimVector index(sizes.size(), 0);
  if (array.shape().num_elements() == 0) return result;
  do {
    int64_t from = LinearPosition(index, strides);
    for (const int64_t d : dims) {
      const auto at = static_cast<size_t>(d);
      from += (sizes[at] - 1 - 2 * index[at]) * strides[at];
    }
    std::memcpy(to, array.data() + from * bytes, static_cast<size_t>(bytes));
    to += bytes;
  } while (NextIndex(sizes, index));
  return result;
}

// Reduces from the last element to the first, and compares.
void ReducedBackward(AuditContext& c, size_t arrays) {
  std::vector<Literal> operands;
  for (size_t k = 0; k < 2 * arrays; ++k) {
    const Literal& operand = *c.Operand(k);
    if (!operand.IsFullSize()) return;
    if (k >= arrays) {
      operands.push_back(operand);
      continue;
    }
    if (!c.Charge(operand.shape().num_elements())) return;
    absl::StatusOr<Literal> reversed = Reversed(*c.run(), operand, c.attributes().List(Attr::kDimensions));
    if (!reversed.ok()) return c.Fail(reversed.status());
    operands.push_back(*std::move(reversed));
  }
  const absl::StatusOr<Literal> other = DefinitionOf(c.view().instruction.opcode).eval(*c.run(), operands);
  if (!other.ok()) return c.Fail(other.status());
  Dependence found;
  found.of = FirstOf(*c.Result()).shape().num_elements();
  for (int64_t i = 0; i < found.of; ++i) {
    bool differs = false;
    std::string values;
    for (size_t k = 0; k < arrays; ++k) {
      const Literal& a = arrays == 1 ? FirstOf(*c.Result()) : c.Result()->element(static_cast<int64_t>(k));
      const Literal& b = arrays == 1 ? FirstOf(*other) : other->element(static_cast<int64_t>(k));
      const ElementType type = a.shape().element_type();
      const std::byte *const x = a.data() + i * Bytes(type), *const y = b.data() + i * Bytes(type);
      if (std::memcmp(x, y, static_cast<size_t>(Bytes(type))) == 0) continue;
      if (!differs)
        values = fmt::format("{}, in reverse order {}", ElementToText(type, x), ElementToText(type, y));
      differs = true;
    }
    if (differs && found.count++ == 0)
      found.first = fmt::format("{}: {}", IndexText(i, FirstOf(*c.Result()).shape().sizes()), values);
  }
  c.RecordFound(AuditPoint::kOrderSensitive, found);
}

// Whether the order can show at all.
bool OrderMatters(AuditContext& c, ComputationId id) {
  const Combiner combiner = CombinerOf(c.module(), id);
  return combiner == Combiner::kUnknown || combiner == Combiner::kReplaces;
}

}  // namespace

// Sums and products of floats keep their value in any order but for rounding, which is what bounds are about.
Combiner CombinerOf(const Module& module, ComputationId id) {
  const Computation& computation = module.computation(id);
  if (computation.parameters.size() == 2 && computation.root == computation.parameters[1])
    return Combiner::kReplaces;
  const std::optional<Opcode> op = OnBoth(module, id);
  if (!op.has_value()) return Combiner::kUnknown;
  const ElementType type = computation.root_instruction().shape->element_type();
  switch (*op) {
    case Opcode::kAdd:
    case Opcode::kMultiply:
      return IsFloat(type) || IsComplex(type) ? Combiner::kRounds : Combiner::kAnyOrder;
    case Opcode::kMaximum:
    case Opcode::kMinimum:
    case Opcode::kAnd:
    case Opcode::kOr:
    case Opcode::kXor:
      return Combiner::kAnyOrder;
    default:
      return Combiner::kUnknown;
  }
}

void Reduce(AuditContext& c) {
  Subnormals(c);
  const ComputationId id = *c.attributes().Computation(Attr::kToApply);
  const size_t arrays = c.view().num_operands() / 2;
  NansOfReducer(c, id, 0, arrays);
  if (FirstOf(c.view().result()).num_elements() == 0) return;
  Init(c, id, arrays);
  if (!OrderMatters(c, id) || TermsOf(c.view().operand(0), FirstOf(c.view().result())) < 2) return;
  if (c.run() == nullptr) return c.RecordPossible(AuditPoint::kOrderSensitive, kUnknownNote);
  ReducedBackward(c, arrays);
}

// Of windows that overlap the order is looked at by the text alone.
void ReduceWindow(AuditContext& c) {
  Subnormals(c);
  const ComputationId id = *c.attributes().Computation(Attr::kToApply);
  const size_t arrays = c.view().num_operands() / 2;
  NansOfReducer(c, id, 0, arrays);
  if (FirstOf(c.view().result()).num_elements() == 0) return;
  Init(c, id, arrays);
  const Window& window = c.attributes().WindowOf();
  const bool combines =
      std::any_of(window.begin(), window.end(), [](const WindowDimension& d) { return d.size > 1; });
  if (OrderMatters(c, id) && combines) c.RecordPossible(AuditPoint::kOrderSensitive, kUnknownNote);
}

void SelectAndScatter(AuditContext& c) {
  Subnormals(c);
  const ComputationId select = *c.attributes().Computation(Attr::kSelect);
  NansOfReducer(c, select, 0, 1);
  if (OnBoth(c.module(), select) != Opcode::kCompare)
    c.RecordPossible(AuditPoint::kOrderSensitive,
                     "select is no comparison, so that no element is the largest");
  const ComputationId scatter = *c.attributes().Computation(Attr::kScatter);
  if (OrderMatters(c, scatter)) c.RecordPossible(AuditPoint::kOrderSensitive, kUnknownNote);
  const std::optional<Opcode> op = OnBoth(c.module(), scatter);
  const Literal* init = c.Operand(2);
  if (init == nullptr || !op.has_value()) return c.RecordPossible(AuditPoint::kInitNotIdentity);
  Dependence found;
  found.of = found.count = 1;
  if (IsIdentity(*op, *init)) found.count = 0;
  if (found.count > 0) found.first = "init " + ElementToText(init->shape().element_type(), init->data());
  c.RecordFound(AuditPoint::kInitNotIdentity, found);
}

void AllReduce(AuditContext& c) {
  Subnormals(c);
  GroupOrder(c);
  const std::optional<ComputationId> id = c.attributes().Computation(Attr::kToApply);
  if (!id.has_value()) return;
  NansOfReducer(c, *id, 0, c.view().num_operands());
  if (OrderMatters(c, *id)) c.RecordPossible(AuditPoint::kOrderSensitive, kUnknownNote);
}

// A loop in order, unless it says that its body is associative.
void Scan(AuditContext& c) {
  if (c.attributes().Bool(Attr::kIsAssociative))
    c.RecordPossible(AuditPoint::kOrderSensitive, "is_associative is taken on trust");
}

}  // namespace assay::audit
