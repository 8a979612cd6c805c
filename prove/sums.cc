#include "prove/sums.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numeric>

#include "fmt/format.h"
#include "prove/exact_total.h"
#include "prove/parallel.h"
#include "prove/subject.h"
#include "run/program.h"

namespace assay::prove {
namespace {

constexpr int kThreads[] = {1, 2, 7};

// An array of reals or complex numbers of rank 2 or 3 on the prover's side. Complex: real parts, then
// imaginary parts.
struct Array {
  ElementType type;
  std::vector<int64_t> sizes;
  std::vector<double> re, im;

  Array(ElementType t, std::vector<int64_t> s) : type(t), sizes(std::move(s)) {
    re.resize(
        static_cast<size_t>(std::accumulate(sizes.begin(), sizes.end(), int64_t{1}, std::multiplies<>())));
    im.resize(IsComplex(type) ? re.size() : 0);
  }
  std::string Text() const { return fmt::format("{}[{}]", Name(type), fmt::join(sizes, ",")); }
};

uint64_t PatternOf(double x, const NumberFormat& format) {
  if (format.bits == 64) return std::isnan(x) ? format.nan : std::bit_cast<uint64_t>(x);
  return RoundReal(RealOf(x), format);
}

absl::StatusOr<Literal> ToLiteral(const Array& array) {
  ASSAY_ASSIGN_OR_RETURN(const Shape shape, Shape::Array(array.type, array.sizes));
  ASSAY_ASSIGN_OR_RETURN(Literal literal, Literal::Make(shape));
  if (array.re.empty()) return literal;
  std::byte* bytes = literal.MutableBytes().data();
  const ElementType component = ComponentType(array.type);
  const NumberFormat& format = FormatOf(component);
  const int64_t parts = IsComplex(array.type) ? 2 : 1;
  for (int64_t i = 0; i < std::ssize(array.re); ++i) {
    SetPattern(bytes, parts * i, component, PatternOf(array.re[i], format));
    if (parts == 2) SetPattern(bytes, parts * i + 1, component, PatternOf(array.im[i], format));
  }
  return literal;
}

// One output of an instruction: the index pairs of its products, or of its terms.
using Walk = std::function<void(int64_t output, const std::function<void(int64_t, int64_t)>& term)>;

// An instruction over arrays x and y (y: the start value of sums) with what each output adds up.
struct Problem {
  std::string program;
  std::vector<Array> operands;
  int64_t outputs = 0;
  bool products = false;
  bool symmetric = false;  // exchanging the operands changes no answer
  Walk walk;
  int64_t width = 0;  // terms in a row, for permutations; 0: the order is fixed
};

std::string ProgramText(const std::string& body, const std::vector<Array>& operands) {
  std::string text = "HloModule m\nadd {\n";
  const std::string scalar = fmt::format("{}[]", Name(operands[0].type));
  text +=
      fmt::format("  a = {0} parameter(0)\n  b = {0} parameter(1)\n  ROOT c = {0} add(a, b)\n}}\n", scalar);
  text += "ENTRY main {\n";
  for (size_t i = 0; i < operands.size(); ++i) {
    text += fmt::format("  {} = {} parameter({})\n", i == 0 ? "x" : "y", operands[i].Text(), i);
  }
  return text + "  ROOT r = " + body + "\n}\n";
}

Problem MakeProblem(const SumOp& op, int64_t rows, int64_t n) {
  Problem p;
  const auto result = [&](const std::vector<int64_t>& sizes) { return Array(op.result, sizes).Text(); };
  if (op.name == "reduce") {
    p.operands = {Array(op.type, {rows, n}), Array(op.type, {})};
    p.program = ProgramText(result({rows}) + " reduce(x, y), dimensions={1}, to_apply=add", p.operands);
    p.outputs = rows;
    p.width = n;
    p.walk = [n](int64_t output, const auto& term) {
      for (int64_t i = 0; i < n; ++i) term(output * n + i, 0);
    };
  } else if (op.name == "reduce-window") {
    const int64_t k = (n + 1) / 2, columns = n - k + 1;
    p.operands = {Array(op.type, {rows, n}), Array(op.type, {})};
    p.program = ProgramText(
        fmt::format("{} reduce-window(x, y), window={{size=1x{}}}, to_apply=add", result({rows, columns}), k),
        p.operands);
    p.outputs = rows * columns;
    p.walk = [n, k, columns](int64_t output, const auto& term) {
      for (int64_t i = 0; i < k; ++i) term(output / columns * n + output % columns + i, 0);
    };
  } else if (op.name == "dot") {  // a matrix product; batches of single dots are "batch dot"
    const int64_t columns = 8, height = std::max<int64_t>(1, rows / columns);
    p.operands = {Array(op.type, {height, n}), Array(op.type, {columns, n})};
    p.program = ProgramText(
        result({height, columns}) + " dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={1}",
        p.operands);
    p.outputs = height * columns;
    p.products = true;
    p.width = n;
    p.walk = [n, columns](int64_t output, const auto& term) {
      for (int64_t i = 0; i < n; ++i) term(output / columns * n + i, output % columns * n + i);
    };
  } else if (op.name == "batch dot") {
    p.operands = {Array(op.type, {rows, n}), Array(op.type, {rows, n})};
    p.program =
        ProgramText(result({rows}) +
                        " dot(x, y), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={1}, "
                        "rhs_contracting_dims={1}",
                    p.operands);
    p.outputs = rows;
    p.products = p.symmetric = true;
    p.width = n;
    p.walk = [n](int64_t output, const auto& term) {
      for (int64_t i = 0; i < n; ++i) term(output * n + i, output * n + i);
    };
  } else {  // convolution, b0f_0io->b0f: window n, 2 features in, 4 out
    const int64_t out = std::max<int64_t>(1, rows / 8), in = out + n - 1;
    p.operands = {Array(op.type, {2, in, 2}), Array(op.type, {n, 2, 4})};
    p.program = ProgramText(fmt::format("{} convolution(x, y), window={{size={}}}, dim_labels=b0f_0io->b0f",
                                        result({2, out, 4}), n),
                            p.operands);
    p.outputs = 8 * out;
    p.products = true;
    p.walk = [n, in, out](int64_t output, const auto& term) {
      const int64_t feature = output % 4, at = output / 4 % out, batch = output / 4 / out;
      for (int64_t i = 0; i < n; ++i) {
        for (int64_t f = 0; f < 2; ++f) term((batch * in + at + i) * 2 + f, (i * 2 + f) * 4 + feature);
      }
    };
  }
  return p;
}

void FillRows(std::vector<double>& values, int64_t width, Terms terms, const NumberFormat& format,
              Random& random) {
  for (int64_t begin = 0; begin < std::ssize(values); begin += width) {
    const int64_t n = std::min(width, std::ssize(values) - begin);
    const std::vector<double> row = RandomTerms(terms, n, format, random);
    std::copy(row.begin(), row.end(), values.begin() + begin);
  }
}

// The second operand of products: units that keep the first one's hard sums hard, or anything.
void FillFactors(std::vector<double>& values, Terms terms, const NumberFormat& format, Random& random) {
  const int64_t how = random.Below(3);
  for (double& y : values) {
    if (how == 0) y = 1;
    if (how == 1) y = random.Below(2) ? 1 : -1;
    if (how == 2) y = RandomTerms(terms, 1, format, random)[0];
  }
}

void Fill(Problem& p, Terms terms, Random& random) {
  const NumberFormat& format = FormatOf(ComponentType(p.operands[0].type));
  const int64_t width = std::max<int64_t>(1, p.width > 0 ? p.width : p.operands[0].sizes[1]);
  FillRows(p.operands[0].re, width, terms, format, random);
  FillRows(p.operands[0].im, width, terms, format, random);
  if (p.products) {
    FillFactors(p.operands[1].re, terms, format, random);
    FillFactors(p.operands[1].im, terms, format, random);
    return;
  }
  const double starts[] = {0.0, -0.0, 1.0};
  for (double& y : p.operands[1].re) y = format.negative_zero ? starts[random.Below(3)] : 0.0;
  for (double& y : p.operands[1].im) y = format.negative_zero ? starts[random.Below(3)] : 0.0;
}

// All answers, complex ones as two patterns.
std::vector<uint64_t> Wanted(const Problem& p, ElementType result) {
  const NumberFormat& format = FormatOf(ComponentType(result));
  const Array &x = p.operands[0], &y = p.operands[1];
  const bool complex = IsComplex(x.type);
  std::vector<uint64_t> wanted;
  ExactTotal re, im;
  for (int64_t output = 0; output < p.outputs; ++output) {
    re.Clear();
    im.Clear();
    // A contraction starts at +0, a reduce at its initial value.
    re.Add(p.products ? 0 : y.re[0]);
    if (complex) im.Add(p.products ? 0 : y.im[0]);
    p.walk(output, [&](int64_t i, int64_t j) {
      if (!p.products) {
        re.Add(x.re[i]);
        if (complex) im.Add(x.im[i]);
        return;
      }
      re.AddProduct(x.re[i], y.re[j]);
      if (!complex) return;
      re.AddProduct(-x.im[i], y.im[j]);
      im.AddProduct(x.re[i], y.im[j]);
      im.AddProduct(x.im[i], y.re[j]);
    });
    wanted.push_back(re.Round(format));
    if (complex) wanted.push_back(im.Round(format));
  }
  return wanted;
}

// Terms of every row in another order, the same for both operands.
void Permute(Problem& p, Random& random) {
  if (p.width == 0) return;
  for (int64_t i = p.width - 1; i > 0; --i) {
    const int64_t j = random.Below(i + 1);
    for (Array& array : p.operands) {
      if (array.sizes.empty()) continue;
      for (std::vector<double>* part : {&array.re, &array.im}) {
        for (int64_t begin = 0; begin < std::ssize(*part); begin += p.width) {
          std::swap((*part)[begin + i], (*part)[begin + j]);
        }
      }
    }
  }
}

void Exchange(Problem& p) {
  if (p.symmetric) std::swap(p.operands[0], p.operands[1]);
}

void Compare(const Problem& p, const SumOp& op, const std::vector<uint64_t>& wanted, const Runner& runner,
             int jobs, const std::string& what, Proof& proof) {
  std::vector<Literal> arguments;
  for (const Array& array : p.operands) {
    absl::StatusOr<Literal> literal = ToLiteral(array);
    if (!literal.ok()) return proof.AddWrong(literal.status().ToString());
    arguments.push_back(*std::move(literal));
  }
  const absl::StatusOr<Literal> result = runner(p.program, arguments, jobs);
  if (!result.ok()) return proof.AddWrong(p.program + result.status().ToString());
  const ElementType component = ComponentType(op.result);
  for (int64_t i = 0; i < std::ssize(wanted); ++i) {
    const uint64_t got = PatternAt(result->data(), i, component);
    if (got == wanted[i]) continue;
    proof.AddWrong(WrongLine(fmt::format("{} {}, {} threads, answer {}", op.name, what, jobs, i), got,
                             wanted[i], Bits(component)));
  }
}

}  // namespace

absl::StatusOr<Runner> RunnerOf(const std::string& engine) {
  if (engine != "exact" && engine != "reference") {
    return BadInput(fmt::format("--sums: engine {}, wanted exact or reference", engine));
  }
  const EngineChoice choice = engine == "exact" ? EngineChoice::kExact : EngineChoice::kReference;
  return Runner([choice](const std::string& text, const std::vector<Literal>& arguments,
                         int jobs) -> absl::StatusOr<Literal> {
    ASSAY_ASSIGN_OR_RETURN(const Program program, Program::Load("sums.hlo", text));
    return program.Run(arguments, {.jobs = jobs}, EnginesOf(choice));
  });
}

Proof ProveSumOp(const SumOp& op, int64_t n, const Runner& runner) {
  Proof proof{.function = op.name, .inputs = "random and hostile, permuted, 1, 2, 7 threads"};
  proof.type = op.type == op.result ? std::string(Name(op.type))
                                    : fmt::format("{} to {}", Name(op.type), Name(op.result));
  constexpr int64_t kLengths[] = {1, 2, 3, 5, 8, 16, 17, 33, 64, 100, 257, 1000};
  const Stopwatch watch;
  for (int64_t round = 0; proof.tried < n; ++round) {
    Random random(static_cast<uint64_t>(round) * 7919 + static_cast<uint64_t>(op.type));
    const Terms terms = static_cast<Terms>(round % kNumTerms);
    int64_t rows = 64, length = kLengths[random.Below(std::ssize(kLengths))];
    // Now and then something large enough for threads to divide: many rows, or one long one.
    if (round % 31 == 30) rows = 512, length = 300;
    if (round % 31 == 15) rows = 1, length = 40000;
    if (op.name == "convolution") length = std::min<int64_t>(length, 100);
    if (op.name == "reduce-window") length = std::min<int64_t>(length, 400);
    Problem problem = MakeProblem(op, rows, length);
    Fill(problem, terms, random);
    const std::vector<uint64_t> wanted = Wanted(problem, op.result);
    const std::string what =
        fmt::format("{} round {} length {} terms {}", proof.type, round, length, round % kNumTerms);
    for (const int jobs : kThreads) {
      Compare(problem, op, wanted, runner, jobs, what, proof);
      Permute(problem, random);
      if (jobs == 2) Exchange(problem);
    }
    proof.tried += problem.outputs;
  }
  proof.seconds = watch.Seconds();
  return proof;
}

absl::Status ProveSums(int64_t n, const std::string& engine, Ledger& ledger) {
  using T = ElementType;
  ASSAY_ASSIGN_OR_RETURN(const Runner runner, RunnerOf(engine));
  std::vector<SumOp> ops;
  for (const char* name : {"reduce", "reduce-window", "dot", "batch dot", "convolution"}) {
    for (const T type : {T::kF8E5M2, T::kF8E4M3FN, T::kF8E4M3B11FNUZ, T::kF16, T::kBF16, T::kF32, T::kF64,
                         T::kC64, T::kC128}) {
      ops.push_back({name, type, type});
    }
    if (name[0] == 'r') continue;
    for (const T type : {T::kF8E5M2, T::kF16, T::kBF16}) ops.push_back({name, type, T::kF32});
  }
  for (const SumOp& op : ops) ledger.Add(ProveSumOp(op, n, runner));
  return absl::OkStatus();
}

}  // namespace assay::prove
