// Results that hang on an order: sort, top-k.
#include <cstring>
#include <vector>

#include "evaluator/audits/rules.h"
#include "evaluator/eval_context.h"
#include "evaluator/scalar_function.h"
#include "fmt/format.h"
#include "literal/literal_text.h"
#include "shape/index.h"

namespace assay::audit {
namespace {

// The lines of a sorted result, and its comparator applied to elements of one line.
class SortedLines {
 public:
  SortedLines(AuditContext& c, ScalarFunction& comparator) : c_(c), comparator_(comparator) {
    const Literal& result = *c.Result();
    if (result.shape().IsTuple()) {
      for (int64_t k = 0; k < result.tuple_size(); ++k) arrays_.push_back(&result.element(k));
    } else {
      arrays_.push_back(&result);
    }
    const Shape& shape = arrays_[0]->shape();
    const int64_t d = c.attributes().List(Attr::kDimensions)[0];
    length_ = arrays_[0]->dynamic_size(d);
    for (int64_t k = d + 1; k < shape.rank(); ++k) stride_ *= shape.size(k);
    outer_step_ = stride_ * shape.size(d);
    elements_ = shape.num_elements();
  }

  // Calls look(first, length) for each line: its elements are first + i * stride().
  bool ForEach(absl::FunctionRef<bool(int64_t first, int64_t length)> look) {
    if (length_ == 0) return true;
    for (int64_t outer = 0; outer < elements_; outer += outer_step_) {
      for (int64_t inner = 0; inner < stride_; ++inner) {
        if (!c_.Charge(4 * length_) || !look(outer + inner, length_)) return false;
      }
    }
    return true;
  }
  int64_t stride() const { return stride_; }
  int64_t elements() const { return elements_; }
  std::span<const Literal* const> arrays() const { return arrays_; }

  // out[i] = comparator(a + i * step, b + i * step), positions in elements.
  bool Compare(int64_t a, int64_t b, int64_t step, int64_t n, std::vector<uint8_t>& out) {
    std::vector<const std::byte*> in;
    std::vector<int64_t> strides;
    for (const Literal* array : arrays_) {
      const int64_t bytes = Bytes(array->shape().element_type());
      for (const int64_t first : {a, b}) {
        in.push_back(array->data() + first * bytes);
        strides.push_back(step * bytes);
      }
    }
    out.assign(static_cast<size_t>(n), 0);
    std::byte* to = reinterpret_cast<std::byte*>(out.data());
    const int64_t one = 1;
    const absl::Status status = comparator_.Run(n, in, strides, {&to, 1}, {&one, 1});
    if (!status.ok()) c_.Fail(status);
    return status.ok();
  }

  bool Differ(int64_t a, int64_t b) const {
    for (const Literal* array : arrays_) {
      const int64_t bytes = Bytes(array->shape().element_type());
      if (std::memcmp(array->data() + a * bytes, array->data() + b * bytes, static_cast<size_t>(bytes)) != 0)
        return true;
    }
    return false;
  }

  std::string Text(int64_t position) const {
    std::string text;
    for (const Literal* array : arrays_) {
      const ElementType type = array->shape().element_type();
      text += fmt::format("{}{}", text.empty() ? "" : ", ",
                          ElementToText(type, array->data() + position * Bytes(type)));
    }
    return arrays_.size() == 1 ? text : "(" + text + ")";
  }
  std::string Place(int64_t position) const { return IndexText(position, arrays_[0]->shape().sizes()); }

 private:
  AuditContext& c_;
  ScalarFunction& comparator_;
  std::vector<const Literal*> arrays_;
  int64_t length_ = 0, stride_ = 1, outer_step_ = 0, elements_ = 0;
};

// Neighbours of which neither is smaller, and that can be told apart.
void EqualKeys(AuditContext& c, SortedLines& lines) {
  Dependence found;
  found.of = lines.elements();
  std::vector<uint8_t> less, greater;
  const bool done = lines.ForEach([&](int64_t first, int64_t length) {
    const int64_t step = lines.stride();
    if (!lines.Compare(first, first + step, step, length - 1, less) ||
        !lines.Compare(first + step, first, step, length - 1, greater))
      return false;
    for (int64_t i = 0; i + 1 < length; ++i) {
      const int64_t at = first + i * step;
      if (less[static_cast<size_t>(i)] != 0 || greater[static_cast<size_t>(i)] != 0 ||
          !lines.Differ(at, at + step))
        continue;
      if (found.count++ == 0) {
        found.first = fmt::format("{} of the result: {} and {}", lines.Place(at), lines.Text(at),
                                  lines.Text(at + step));
      }
    }
    return true;
  });
  if (done) c.RecordFound(AuditPoint::kSortEqualKeys, found);
}

// Elements that are smaller than themselves; NaNs that are neither smaller nor larger
// than a number of their line.
void NotAnOrder(AuditContext& c, SortedLines& lines) {
  Dependence found;
  found.of = lines.elements();
  std::vector<uint8_t> less, greater;
  const auto look = [&](int64_t first, int64_t length) {
    const int64_t step = lines.stride();
    if (!lines.Compare(first, first, step, length, less)) return false;
    for (int64_t i = 0; i < length; ++i) {
      const int64_t at = first + i * step;
      if (less[static_cast<size_t>(i)] != 0 && found.count++ == 0)
        found.first =
            fmt::format("{} of the result: {} is smaller than itself", lines.Place(at), lines.Text(at));
    }
    for (const Literal* array : lines.arrays()) {
      if (!IsFloat(array->shape().element_type())) continue;
      std::vector<int64_t> nans;
      int64_t number = -1;
      for (int64_t i = 0; i < length; ++i) {
        const int64_t at = first + i * step;
        if (IsNan(*array, at)) {
          nans.push_back(at);
        } else if (number < 0) {
          number = at;
        }
      }
      for (const int64_t nan : nans) {
        if (number < 0) break;
        if (!lines.Compare(nan, number, 0, 1, less) || !lines.Compare(number, nan, 0, 1, greater))
          return false;
        if (less[0] == 0 && greater[0] == 0 && found.count++ == 0) {
          found.first = fmt::format("{} of the result: {} is neither smaller nor larger than {}",
                                    lines.Place(nan), lines.Text(nan), lines.Text(number));
        }
      }
    }
    return true;
  };
  if (lines.ForEach(look)) c.RecordFound(AuditPoint::kSortNotAnOrder, found);
}

}  // namespace

void Sort(AuditContext& c) {
  const ComputationId comparator = *c.attributes().Computation(Attr::kToApply);
  const bool is_stable = c.attributes().Bool(Attr::kIsStable);
  const int64_t length = c.view().operand(0).size(c.attributes().List(Attr::kDimensions)[0]);
  if (length < 2) return;
  if (c.run() == nullptr) {
    const Instruction& root = c.module().computation(comparator).root_instruction();
    const std::string_view direction =
        root.opcode == Opcode::kCompare ? root.attributes.Text(Attr::kDirection) : std::string_view();
    if (!is_stable) c.RecordPossible(AuditPoint::kSortEqualKeys);
    if (direction == "LE" || direction == "GE") {
      c.Always(AuditPoint::kSortNotAnOrder, "equal elements are smaller than each other");
    } else if (c.MayMeet(comparator, AuditPoint::kNanInCompare)) {
      c.RecordPossible(AuditPoint::kSortNotAnOrder);
    }
    return;
  }
  const absl::StatusOr<ScalarFunction*> function = c.run()->Scalar(comparator);
  if (!function.ok()) return c.Fail(function.status());
  SortedLines lines(c, **function);
  if (!is_stable) EqualKeys(c, lines);
  NotAnOrder(c, lines);
}

// Ties go by the index everywhere; NaNs do not.
void TopK(AuditContext& c) {
  if (!IsFloat(c.operand_type(0))) return;
  const Literal* value = c.Operand(0);
  if (value == nullptr) return c.RecordPossible(AuditPoint::kNanInExtreme);
  c.Count(AuditPoint::kNanInExtreme, *value, [&](int64_t i) { return IsNan(*value, i); }, {value});
}

}  // namespace assay::audit
