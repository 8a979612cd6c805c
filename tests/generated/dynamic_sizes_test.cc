// Generated programs of bounded dynamic dimensions (DYN-1 to DYN-7). Each is written twice: with bounds,
// where sizes are set at run time and broadcasts and iotas only declare them, and with the run-time sizes as
// static ones. Both must have the same elements, by the reference and by engines. The writer keeps a model of
// its own of which dimensions are open.
#include <array>

#include "literal/compare.h"
#include "run/executor.h"
#include "tests/evaluator/ops/shape_testing.h"

namespace assay::testing {
namespace {

struct Dimension {
  int64_t bound, size;
  bool dynamic;
  bool open = false;  // nothing said its size yet

  bool Fits(const Dimension& other) const { return bound == other.bound && size == other.size; }
};

struct Value {
  std::string name;
  std::vector<Dimension> dims;

  bool IsOpen() const {
    return std::any_of(dims.begin(), dims.end(), [](const Dimension& d) { return d.open; });
  }
  bool Fits(const Value& other) const {
    return std::equal(dims.begin(), dims.end(), other.dims.begin(), other.dims.end(),
                      [](const Dimension& a, const Dimension& b) { return a.Fits(b); });
  }
};

class Writer {
 public:
  explicit Writer(uint32_t seed) : random_(seed) { Start(); }

  // One op on values that are there; nothing where the chosen op does not fit them.
  void AddOp();
  void Finish();
  std::string Text(bool is_dynamic) const {
    return "HloModule m\n" + std::string(kComputations) + (is_dynamic ? dynamic_callees_ : static_callees_) +
           "ENTRY e {\n" + (is_dynamic ? dynamic_ : static_) + "}\n";
  }
  std::vector<Literal> arguments(bool is_dynamic) const { return is_dynamic ? dynamic_in_ : static_in_; }
  int ops() const { return ops_; }
  // The result is open: every engine has to say so.
  bool is_open() const { return values_.back().IsOpen(); }

 private:
  static constexpr std::string_view kComputations = R"(
sum { a = s32[] parameter(0)
 b = s32[] parameter(1)
 ROOT c = s32[] add(a, b) }
less { a = s32[] parameter(0)
 b = s32[] parameter(1)
 ROOT c = pred[] compare(a, b), direction=LT }
less_of_two { a = s32[] parameter(0)
 b = s32[] parameter(1)
 c = s32[] parameter(2)
 d = s32[] parameter(3)
 ROOT e = pred[] compare(a, b), direction=LT }
)";

  void Start();
  std::string NewName() { return fmt::format("v{}", ++names_); }
  static std::string ShapeText(const std::vector<Dimension>& dims, bool is_dynamic,
                               const char* type = "s32") {
    std::vector<std::string> parts;
    for (const Dimension& d : dims) {
      parts.push_back(!is_dynamic ? std::to_string(d.size)
                                  : fmt::format("{}{}", d.dynamic ? "<=" : "", d.bound));
    }
    return fmt::format("{}[{}]", type, fmt::join(parts, ","));
  }
  void Line(bool is_dynamic, const std::string& name, const std::vector<Dimension>& dims,
            const std::string& op, const char* type = "s32") {
    (is_dynamic ? dynamic_ : static_) +=
        fmt::format("  {} = {} {}\n", name, ShapeText(dims, is_dynamic, type), op);
  }
  // The same op in both programs.
  Value& Add(std::vector<Dimension> dims, const std::string& op) {
    const std::string name = NewName();
    Line(true, name, dims, op);
    Line(false, name, dims, op);
    return values_.emplace_back(Value{name, std::move(dims)});
  }
  std::string Scalar(int64_t value) {
    const std::string name = NewName();
    Line(true, name, {}, fmt::format("constant({})", value));
    Line(false, name, {}, fmt::format("constant({})", value));
    return name;
  }
  size_t Pick(size_t n) { return static_cast<size_t>(random_.Int(0, static_cast<int64_t>(n) - 1)); }
  bool Coin() { return random_.Int(0, 1) == 1; }
  const Value& AnyValue() { return values_[values_.size() - 1 - Pick(std::min<size_t>(values_.size(), 3))]; }

  // A value of these dimensions whose dynamic ones are open.
  Value Declared(std::vector<Dimension> dims);
  // One of the same sizes: an older one, or a declared one.
  Value Partner(const Value& value);
  static std::vector<Dimension> Joined(std::vector<Dimension> a, const std::vector<Dimension>& b);

  void Binary(const Value& x);
  void Choose(const Value& x);
  void Unary(const Value& x);
  void Transpose(const Value& x);
  void Reverse(const Value& x);
  void Reduce(const Value& x);
  void Concatenate(const Value& x);
  void Broadcast(const Value& x);
  void Sort(const Value& x);
  void SortTwo(const Value& x);
  void Slice(const Value& x);
  void Pad(const Value& x);
  void Merge(const Value& x);
  void Split(const Value& x);
  void Dot(const Value& x);
  void ReadSize(const Value& x);
  void SetSize(const Value& x);
  void Window(const Value& x);
  void Gather(const Value& x);
  void Map(const Value& x);
  void TakeFromTuple(const Value& x);
  void Call(const Value& x);
  void Branch(const Value& x);
  void Loop(const Value& x);
  // A computation in both programs; {0} of its text is the shape of `dims`.
  std::string Callee(const std::vector<Dimension>& dims, fmt::string_view text);

  Random random_;
  int names_ = 0, ops_ = 0;
  std::string dynamic_, static_, dynamic_callees_, static_callees_;
  std::vector<Literal> dynamic_in_, static_in_;
  std::vector<Value> values_;
};

// A bounded parameter, and a static one whose size is set.
void Writer::Start() {
  std::vector<Dimension> dims;
  for (int64_t rank = random_.Int(1, 3); rank > 0; --rank) {
    const int64_t bound = random_.Int(1, 4);
    const bool dynamic = Coin();
    dims.push_back({bound, dynamic ? random_.Int(0, bound) : bound, dynamic});
  }
  Index live, bounds;
  for (const Dimension& d : dims) live.push_back(d.size), bounds.push_back(d.bound);
  Array x = random_.Fill(live, -9, 9), padded(bounds, 0);
  x.ForEach([&](const Index& i) { padded.At(i) = x.At(i); });
  Shape shape = Shape::ArrayOrDie(ElementType::kS32, bounds);
  for (size_t d = 0; d < dims.size(); ++d) shape.set_dynamic(static_cast<int64_t>(d), dims[d].dynamic);
  Literal value = padded.ToLiteral().WithShape(std::make_shared<const Shape>(shape));
  for (size_t d = 0; d < dims.size(); ++d) {
    if (dims[d].dynamic) value.set_dynamic_size(static_cast<int64_t>(d), dims[d].size);
  }
  dynamic_in_.push_back(value);
  static_in_.push_back(x.ToLiteral());
  Line(true, "p", dims, "parameter(0)");
  Line(false, "p", dims, "parameter(0)");
  values_.push_back({"p", dims});
}

Value Writer::Declared(std::vector<Dimension> dims) {
  for (Dimension& d : dims) d.open = d.dynamic;
  const bool counts = !dims.empty() && Coin();
  if (counts) return Add(dims, fmt::format("iota(), iota_dimension={}", Pick(dims.size())));
  const std::string scalar = Scalar(random_.Int(-3, 3));
  return Add(dims, fmt::format("broadcast({}), dimensions={{}}", scalar));
}

Value Writer::Partner(const Value& value) {
  if (Coin()) {
    for (size_t i = values_.size(); i-- > 0;) {
      if (values_[i].Fits(value) && Coin()) return values_[i];
    }
  }
  return Declared(value.dims);
}

std::vector<Dimension> Writer::Joined(std::vector<Dimension> a, const std::vector<Dimension>& b) {
  for (size_t d = 0; d < a.size(); ++d) {
    a[d].open = a[d].open && b[d].open;
    a[d].dynamic = a[d].dynamic || b[d].dynamic;
  }
  return a;
}

void Writer::Binary(const Value& x) {
  const Value y = Partner(x);
  const std::array ops = {"add", "subtract", "multiply", "maximum", "minimum", "and", "xor"};
  const bool swapped = Coin();
  Add(Joined(x.dims, y.dims),
      fmt::format("{}({}, {})", ops[Pick(ops.size())], swapped ? y.name : x.name, swapped ? x.name : y.name));
}

// select(x < y, x, z), or clamp.
void Writer::Choose(const Value& x) {
  const Value y = Partner(x), z = Partner(x);
  const std::vector<Dimension> compared = Joined(x.dims, y.dims), dims = Joined(compared, z.dims);
  if (Coin()) {
    Add(dims, fmt::format("clamp({}, {}, {})", y.name, x.name, z.name));
    return;
  }
  const std::string pred = NewName();
  for (bool is_dynamic : {true, false})
    Line(is_dynamic, pred, compared, fmt::format("compare({}, {}), direction=LT", x.name, y.name), "pred");
  Add(dims, fmt::format("select({}, {}, {})", pred, x.name, z.name));
}

void Writer::Unary(const Value& x) {
  const std::array ops = {"negate", "not", "abs", "copy"};
  Add(x.dims, fmt::format("{}({})", ops[Pick(ops.size())], x.name));
}

void Writer::Transpose(const Value& x) {
  const Index order = random_.Pick(Upto(static_cast<int64_t>(x.dims.size())), x.dims.size());
  std::vector<Dimension> dims;
  for (int64_t d : order) dims.push_back(x.dims[d]);
  Add(dims, fmt::format("transpose({}), dimensions={}", x.name, Braces(order)));
}

void Writer::Reverse(const Value& x) {
  const size_t d = Pick(x.dims.size());
  if (!x.dims[d].open) Add(x.dims, fmt::format("reverse({}), dimensions={{{}}}", x.name, d));
}

void Writer::Reduce(const Value& x) {
  const size_t d = Pick(x.dims.size());
  if (x.dims[d].open) return;
  const std::string zero = Scalar(0);
  std::vector<Dimension> dims = x.dims;
  dims.erase(dims.begin() + static_cast<int64_t>(d));
  Add(dims, fmt::format("reduce({}, {}), dimensions={{{}}}, to_apply=sum", x.name, zero, d));
}

void Writer::Map(const Value& x) {
  const Value y = Partner(x);
  Add(Joined(x.dims, y.dims), fmt::format("map({}, {}), to_apply=sum", x.name, y.name));
}

void Writer::Concatenate(const Value& x) {
  const size_t along = Pick(x.dims.size());
  const Value y = Coin() ? x : Partner(x);
  if (x.dims[along].open || y.dims[along].open) return;
  std::vector<Dimension> dims = Joined(x.dims, y.dims);
  if (dims[along].bound > 16) return;
  dims[along].bound *= 2;
  dims[along].size *= 2;
  Add(dims, fmt::format("concatenate({}, {}), dimensions={{{}}}", x.name, y.name, along));
}

void Writer::Broadcast(const Value& x) {
  if (x.dims.size() > 2) return;
  const size_t at = Pick(x.dims.size() + 1);
  const int64_t bound = random_.Int(1, 4);
  const bool dynamic = Coin();
  std::vector<Dimension> dims = x.dims;
  dims.insert(dims.begin() + static_cast<int64_t>(at),
              {bound, dynamic ? random_.Int(0, bound) : bound, dynamic, dynamic});
  Index to;
  for (size_t d = 0; d < x.dims.size(); ++d) to.push_back(static_cast<int64_t>(d + (d >= at)));
  Add(dims, fmt::format("broadcast({}), dimensions={}", x.name, Braces(to)));
}

void Writer::Sort(const Value& x) {
  const size_t d = Pick(x.dims.size());
  if (!x.dims[d].open) Add(x.dims, fmt::format("sort({}), dimensions={{{}}}, to_apply=less", x.name, d));
}

// By the first of two operands, of which one may say the sizes of both.
void Writer::SortTwo(const Value& x) {
  const size_t along = Pick(x.dims.size());
  const Value y = Partner(x);
  for (size_t d = 0; d < x.dims.size(); ++d) {
    if (x.dims[d].dynamic != y.dims[d].dynamic) return;
  }
  const std::vector<Dimension> dims = Joined(x.dims, y.dims);
  if (dims[along].open) return;
  const std::string tuple = NewName();
  for (bool is_dynamic : {true, false}) {
    const std::string shape = ShapeText(dims, is_dynamic);
    (is_dynamic ? dynamic_ : static_) +=
        fmt::format("  {} = ({}, {}) sort({}, {}), dimensions={{{}}}, is_stable=true, to_apply=less_of_two\n",
                    tuple, shape, shape, x.name, y.name, along);
  }
  Add(dims, fmt::format("get-tuple-element({}), index={}", tuple, Pick(2)));
}

void Writer::Slice(const Value& x) {
  const size_t d = Pick(x.dims.size());
  const std::vector<Dimension>& dims = x.dims;
  const Dimension of = dims[d];
  const int64_t start = random_.Int(0, of.bound), stride = random_.Int(1, 2);
  const auto count = [&](int64_t limit) {
    return limit <= start ? 0 : (limit - start + stride - 1) / stride;
  };
  Dimension to = of;
  to.bound = count(of.bound);
  to.size = count(of.size);
  if (to.bound == 1 && of.dynamic) return;  // static: it may select a dead element
  std::vector<std::string> wide, narrow;
  for (size_t e = 0; e < dims.size(); ++e) {
    if (e != d) {
      wide.push_back(fmt::format("[0:{}]", dims[e].bound));
      narrow.push_back(fmt::format("[0:{}]", dims[e].size));
      if (dims[e].bound == 1 && dims[e].dynamic) return;
      continue;
    }
    wide.push_back(fmt::format("[{}:{}:{}]", start, of.bound, stride));
    narrow.push_back(fmt::format("[{}:{}:{}]", std::min(start, of.size), of.size, stride));
  }
  std::vector<Dimension> result = dims;
  result[d] = to;
  const std::string name = NewName();
  Line(true, name, result, fmt::format("slice({}), slice={{{}}}", x.name, fmt::join(wide, ", ")));
  Line(false, name, result, fmt::format("slice({}), slice={{{}}}", x.name, fmt::join(narrow, ", ")));
  values_.push_back({name, result});
}

void Writer::Pad(const Value& x) {
  const size_t d = Pick(x.dims.size());
  const int64_t low = random_.Int(-1, 2), high = x.dims[d].open ? 0 : random_.Int(0, 2),
                interior = random_.Int(0, 1);
  std::vector<Dimension> dims = x.dims;
  const auto padded = [&](int64_t size) {
    return low + size + std::max<int64_t>(size - 1, 0) * interior + high;
  };
  if (padded(dims[d].bound) < 0 || padded(dims[d].size) < 0 || padded(dims[d].bound) > 16) return;
  dims[d].bound = padded(dims[d].bound);
  dims[d].size = padded(dims[d].size);
  std::vector<std::string> parts;
  for (size_t e = 0; e < dims.size(); ++e)
    parts.push_back(e == d ? fmt::format("{}_{}_{}", low, high, interior) : "0_0");
  const std::string value = Scalar(7);
  Add(dims, fmt::format("pad({}, {}), padding={}", x.name, value, fmt::join(parts, "x")));
}

// Two neighbours become one; the live elements stay in their order.
void Writer::Merge(const Value& x) {
  if (x.dims.size() < 2) return;
  const size_t d = Pick(x.dims.size() - 1);
  const Dimension a = x.dims[d], b = x.dims[d + 1];
  if (a.open || b.open || a.bound == 1 || b.bound == 1 || a.bound * b.bound > 64) return;
  for (size_t e = 0; e < x.dims.size(); ++e) {
    if (x.dims[e].bound <= 1) return;  // may belong to the group
  }
  std::vector<Dimension> dims = x.dims;
  dims[d] = {a.bound * b.bound, a.size * b.size, a.dynamic || b.dynamic};
  dims.erase(dims.begin() + static_cast<int64_t>(d) + 1);
  Add(dims, fmt::format("reshape({})", x.name));
}

// One becomes two, of which one is static and the other takes what is left.
void Writer::Split(const Value& x) {
  const size_t d = Pick(x.dims.size());
  const Dimension of = x.dims[d];
  const int64_t by = random_.Int(2, 3);
  if (x.dims.size() > 2 || of.open || of.bound % by != 0 || of.size % by != 0 || of.bound == by) return;
  for (const Dimension& other : x.dims) {
    if (other.bound <= 1) return;
  }
  const bool static_first = Coin();
  std::vector<Dimension> dims = x.dims;
  dims[d] = {of.bound / by, of.size / by, of.dynamic};
  dims.insert(dims.begin() + static_cast<int64_t>(d) + !static_first, {by, by, false});
  Add(dims, fmt::format("reshape({})", x.name));
}

// Sums over the last dimension of x and the first of y, which may declare it only.
void Writer::Dot(const Value& x) {
  const int64_t columns = random_.Int(1, 3);
  if (x.dims.back().open) return;
  const Value y = Declared({x.dims.back(), {columns, columns, false}});
  std::vector<Dimension> dims(x.dims.begin(), x.dims.end() - 1);
  dims.push_back({columns, columns, false});
  Add(dims, fmt::format("dot({}, {}), lhs_contracting_dims={{{}}}, rhs_contracting_dims={{0}}", x.name,
                        y.name, x.dims.size() - 1));
}

// x + its size
void Writer::ReadSize(const Value& x) {
  const size_t d = Pick(x.dims.size());
  if (x.dims[d].open) return;
  const std::string size = Add({}, fmt::format("get-dimension-size({}), dimensions={{{}}}", x.name, d)).name;
  values_.pop_back();
  std::vector<Dimension> dims = x.dims;
  for (Dimension& e : dims) e.open = e.dynamic;
  const Value sizes = Add(dims, fmt::format("broadcast({}), dimensions={{}}", size));
  Add(x.dims, fmt::format("add({}, {})", x.name, sizes.name));
}

// A smaller size; the static program slices. An open dimension gets one.
void Writer::SetSize(const Value& x) {
  const size_t d = Pick(x.dims.size());
  std::vector<Dimension> dims = x.dims;
  dims[d].size = random_.Int(0, x.dims[d].size);
  dims[d].dynamic = true;
  dims[d].open = false;
  const std::string n = Scalar(dims[d].size), name = NewName();
  Line(true, name, dims, fmt::format("set-dimension-size({}, {}), dimensions={{{}}}", x.name, n, d));
  std::vector<std::string> parts;
  for (const Dimension& e : dims) parts.push_back(fmt::format("[0:{}]", e.size));
  Line(false, name, dims, fmt::format("slice({}), slice={{{}}}", x.name, fmt::join(parts, ", ")));
  values_.push_back({name, dims});
}

// Sums of each element and the one before it.
void Writer::Window(const Value& x) {
  const size_t d = Pick(x.dims.size());
  if (x.dims[d].open) return;
  const std::string zero = Scalar(0);
  std::vector<std::string> sizes, pads;
  for (size_t e = 0; e < x.dims.size(); ++e) {
    sizes.push_back(e == d ? "2" : "1");
    pads.push_back(e == d ? "1_0" : "0_0");
  }
  Add(x.dims, fmt::format("reduce-window({}, {}), window={{size={} pad={}}}, to_apply=sum", x.name, zero,
                          fmt::join(sizes, "x"), fmt::join(pads, "x")));
}

// Rows by indices that are clamped to the run-time size.
void Writer::Gather(const Value& x) {
  if (x.dims.size() != 2 || x.dims[0].open || x.dims[0].size == 0 || x.dims[1].bound == 0) return;
  if (x.dims[1].size == 0) return;
  const int64_t rows = random_.Int(1, 3);
  const Value indices = Declared({{rows, rows, false}});
  const std::vector<Dimension> dims = {{rows, rows, false}, x.dims[1]};
  const std::string name = NewName();
  for (bool is_dynamic : {true, false}) {
    Line(is_dynamic, name, dims,
         fmt::format("gather({}, {}), offset_dims={{1}}, collapsed_slice_dims={{0}}, start_index_map={{0}}, "
                     "index_vector_dim=1, slice_sizes={{1,{}}}",
                     x.name, indices.name, is_dynamic ? x.dims[1].bound : x.dims[1].size));
  }
  values_.push_back({name, dims});
}

void Writer::TakeFromTuple(const Value& x) {
  const std::string tuple = NewName();
  for (bool is_dynamic : {true, false}) {
    const std::string shape = ShapeText(x.dims, is_dynamic);
    (is_dynamic ? dynamic_ : static_) +=
        fmt::format("  {} = ({}, {}) tuple({}, {})\n", tuple, shape, shape, x.name, x.name);
  }
  Add(x.dims, fmt::format("get-tuple-element({}), index={}", tuple, Pick(2)));
}

std::string Writer::Callee(const std::vector<Dimension>& dims, fmt::string_view text) {
  const std::string name = NewName();
  for (bool is_dynamic : {true, false}) {
    (is_dynamic ? dynamic_callees_ : static_callees_) +=
        name + " " + fmt::format(fmt::runtime(text), ShapeText(dims, is_dynamic)) + "\n";
  }
  return name;
}

constexpr std::string_view kNegate = "{{ a = {0} parameter(0)\n ROOT b = {0} negate(a) }}";
constexpr std::string_view kDeclare =
    "{{ a = {0} parameter(0)\n c = s32[] constant(4)\n ROOT b = {0} broadcast(c), dimensions={{}} }}";
constexpr std::string_view kAddDeclared = R"({{ s = (s32[], {0}) parameter(0)
 i = s32[] get-tuple-element(s), index=0
 a = {0} get-tuple-element(s), index=1
 one = s32[] constant(1)
 j = s32[] add(i, one)
 c = {0} broadcast(j), dimensions={{}}
 b = {0} add(a, c)
 ROOT t = (s32[], {0}) tuple(j, b) }})";
constexpr std::string_view kTwoIterations = R"({{ s = (s32[], {0}) parameter(0)
 i = s32[] get-tuple-element(s), index=0
 n = s32[] constant(2)
 ROOT m = pred[] compare(i, n), direction=LT }})";

void Writer::Call(const Value& x) {
  const std::string f = Callee(x.dims, kNegate);
  Add(x.dims, Coin() ? fmt::format("call({}), to_apply={}", x.name, f)
                     : fmt::format("fusion({}), kind=kLoop, calls={}", x.name, f));
}

// One branch hands on sizes, the other declares them.
void Writer::Branch(const Value& x) {
  const bool first = Coin();
  const std::string on_true = Callee(x.dims, kNegate), on_false = Callee(x.dims, kDeclare), pred = NewName();
  for (bool is_dynamic : {true, false})
    Line(is_dynamic, pred, {}, first ? "constant(true)" : "constant(false)", "pred");
  std::vector<Dimension> dims = x.dims;
  for (Dimension& d : dims) d.open = first ? d.open : d.dynamic;
  Add(dims, fmt::format("conditional({}, {}, {}), true_computation={}, false_computation={}", pred, x.name,
                        x.name, on_true, on_false));
}

void Writer::Loop(const Value& x) {
  const std::string body = Callee(x.dims, kAddDeclared), condition = Callee(x.dims, kTwoIterations);
  const std::string start = Scalar(random_.Int(0, 2)), state = NewName(), loop = NewName();
  for (bool is_dynamic : {true, false}) {
    const std::string shape = ShapeText(x.dims, is_dynamic);
    (is_dynamic ? dynamic_ : static_) += fmt::format(
        "  {0} = (s32[], {2}) tuple({3}, {4})\n  {1} = (s32[], {2}) while({0}), condition={5}, body={6}\n",
        state, loop, shape, start, x.name, condition, body);
  }
  Add(x.dims, fmt::format("get-tuple-element({}), index=1", loop));
}

void Writer::AddOp() {
  using Op = void (Writer::*)(const Value&);
  static constexpr Op kOps[] = {
      &Writer::Binary,      &Writer::Binary,        &Writer::Choose, &Writer::Unary,   &Writer::Transpose,
      &Writer::Reverse,     &Writer::Reduce,        &Writer::Map,    &Writer::Sort,    &Writer::SortTwo,
      &Writer::Broadcast,   &Writer::Slice,         &Writer::Pad,    &Writer::Merge,   &Writer::Split,
      &Writer::Dot,         &Writer::Window,        &Writer::Gather, &Writer::SetSize, &Writer::ReadSize,
      &Writer::Concatenate, &Writer::TakeFromTuple, &Writer::Call,   &Writer::Branch,  &Writer::Loop};
  const Value x = AnyValue();
  const size_t before = values_.size();
  if (!x.dims.empty()) (this->*kOps[Pick(std::size(kOps))])(x);
  ops_ += values_.size() > before || x.dims.empty();
}

// The root is the last value.
void Writer::Finish() {
  const Value last = values_.back();
  const std::vector<Dimension> dims = last.dims;
  for (bool is_dynamic : {true, false}) {
    (is_dynamic ? dynamic_ : static_) +=
        fmt::format("  ROOT r = {} copy({})\n", ShapeText(dims, is_dynamic), last.name);
  }
}

// The live elements, row-major; dead ones must be zero.
std::vector<int64_t> LiveElements(const Literal& literal) {
  Array all({literal.shape().sizes().begin(), literal.shape().sizes().end()});
  all.values = ValuesOf(literal);
  const DimVector live = literal.runtime_sizes();
  std::vector<int64_t> values;
  all.ForEach([&](const Index& index) {
    for (size_t d = 0; d < index.size(); ++d) {
      if (index[d] >= live[d]) {
        CHECK(all.At(index) == 0);
        return;
      }
    }
    values.push_back(all.At(index));
  });
  return values;
}

absl::StatusOr<Literal> RunBy(EngineChoice engines, const Program& program, std::vector<Literal> arguments) {
  const Crosscheck crosscheck = engines == EngineChoice::kReference ? Crosscheck::kOff : Crosscheck::kFull;
  return program.Run(std::move(arguments), {.jobs = 1, .crosscheck = crosscheck}, EnginesOf(engines));
}

// Returns whether there is a result.
bool CheckProgram(const Writer& writer) {
  INFO(writer.Text(true) << writer.Text(false));
  const auto bounded = Program::Load("bounded.hlo", writer.Text(true));
  const auto exact = Program::Load("static.hlo", writer.Text(false));
  if (!bounded.ok()) FAIL(std::string(bounded.status().message()));
  if (!exact.ok()) FAIL(std::string(exact.status().message()));
  const auto wanted = RunBy(EngineChoice::kReference, *exact, writer.arguments(false));
  if (!wanted.ok()) FAIL(std::string(wanted.status().message()));
  for (EngineChoice engines : {EngineChoice::kReference, EngineChoice::kExact, EngineChoice::kFast}) {
    INFO(Name(engines));
    const auto found = RunBy(engines, *bounded, writer.arguments(true));
    if (writer.is_open()) {
      CHECK(found.status().code() == absl::StatusCode::kFailedPrecondition);
      CHECK(std::string(found.status().message()).find("nothing says") != std::string::npos);
      continue;
    }
    if (!found.ok()) FAIL(std::string(found.status().message()));
    CHECK(found->runtime_sizes() == wanted->runtime_sizes());
    CHECK(LiveElements(*found) == ValuesOf(*wanted));
  }
  return !writer.is_open();
}

TEST_CASE("dynamic sizes: a bounded program has the elements of the static one", "[dynamic][generated]") {
  int results = 0;
  for (uint32_t seed = 1; seed <= 800; ++seed) {
    Writer writer(seed);
    while (writer.ops() < 1 + static_cast<int>(seed % 6)) writer.AddOp();
    writer.Finish();
    INFO("seed " << seed);
    results += CheckProgram(writer);
  }
  CHECK(results > 500);
}

}  // namespace
}  // namespace assay::testing
