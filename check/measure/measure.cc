#include "check/measure/measure.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string_view>
#include <utility>

#include "base/work_stage.h"
#include "check/measure/arguments.h"
#include "check/measure/both.h"
#include "check/measure/probes.h"
#include "fmt/format.h"
#include "fmt/ranges.h"

namespace assay {
namespace {

// By their names in HLO.
constexpr std::string_view kUnary[] = {"acos",
                                       "acosh",
                                       "asin",
                                       "asinh",
                                       "atanh",
                                       "cbrt",
                                       "cosine",
                                       "cosh",
                                       "erf",
                                       "exponential",
                                       "exponential-minus-one",
                                       "log",
                                       "log-plus-one",
                                       "logistic",
                                       "rsqrt",
                                       "sine",
                                       "sinh",
                                       "sqrt",
                                       "tan",
                                       "tanh"};
constexpr std::string_view kBinary[] = {"add",   "atan2",     "divide",  "multiply",
                                        "power", "remainder", "subtract"};
// IEEE 754 wants these rounded correctly.
constexpr std::string_view kBasic[] = {"add",  "subtract",  "multiply", "divide",
                                       "sqrt", "remainder", "convert"};
constexpr ElementType kTypes[] = {ElementType::kF32, ElementType::kF64, ElementType::kBF16,
                                  ElementType::kF16};
// A division by a constant may become a product with its rounded reciprocal.
constexpr double kDivisors[] = {3, 7, 10, 710, 0.3, 12345};

// One function of a program: how its result is written, and what it is of.
struct Term {
  Opcode op;
  std::string text;             // "tanh(x)"
  std::vector<std::string> of;  // "x"
  double divisor = 0;           // of a division by a constant
};

// The numbers that functions of a type are tried on: x of one argument, (y, z) of two, w of the type that
// conversions are from.
struct Tried {
  ElementType type, from;
  std::vector<double> x, y, z, w;
  bool is_exhaustive;  // x

  const std::vector<double>& Of(const std::string& name) const {
    return name == "x" ? x : name == "y" ? y : name == "z" ? z : w;
  }
};

bool IsNarrow(ElementType type) { return Bytes(type) == 2; }

Tried TriedFor(ElementType type, const MeasureOptions& options) {
  MeasureRandom random(options.seed);
  Tried tried;
  tried.type = type;
  tried.from = type == ElementType::kF32 ? ElementType::kF64 : ElementType::kF32;
  tried.is_exhaustive = IsNarrow(type);
  tried.y = SampledArguments(type, options.count, random);
  tried.z = SampledArguments(type, options.count, random);
  for (size_t k = tried.z.size(); k > 1; --k) std::swap(tried.z[k - 1], tried.z[random.Bits() % k]);
  tried.x = tried.is_exhaustive ? AllArguments(type) : tried.y;
  // Numbers between those of the type that results have.
  for (const double value : tried.y) tried.w.push_back(value * (1 + std::ldexp(random.Uniform(), -8)));
  return tried;
}

std::vector<Term> TermsOf(ElementType type) {
  std::vector<Term> terms;
  const auto add = [&](std::string_view op, std::string text, std::vector<std::string> of,
                       double divisor = 0) {
    terms.push_back({*OpcodeFromName(op), std::move(text), std::move(of), divisor});
  };
  for (const std::string_view op : kUnary) add(op, fmt::format("{}(x)", op), {"x"});
  for (const std::string_view op : kBinary) add(op, fmt::format("{}(y, z)", op), {"y", "z"});
  if (type != ElementType::kF64) add("convert", "convert(w)", {"w"});
  for (const double divisor : kDivisors) add("divide", "", {"y"}, divisor);
  return terms;
}

// The program of these terms, and its arguments: those that are used.
std::pair<std::string, std::vector<Literal>> ProgramOf(const Tried& tried, std::span<const Term> terms) {
  std::vector<std::string> used, roots, shapes;
  std::vector<Literal> arguments;
  std::string text = "ENTRY e {\n";
  for (const Term& term : terms) {
    for (const std::string& name : term.of) {
      if (std::find(used.begin(), used.end(), name) != used.end()) continue;
      const ElementType type = name == "w" ? tried.from : tried.type;
      text +=
          fmt::format("  {} = {}[{}] parameter({})\n", name, Name(type), tried.Of(name).size(), used.size());
      arguments.push_back(ArrayOf(type, tried.Of(name)));
      used.push_back(name);
    }
  }
  for (const Term& term : terms) {
    const std::string shape = fmt::format("{}[{}]", Name(tried.type), tried.Of(term.of[0]).size());
    const std::string name = fmt::format("r{}", roots.size());
    std::string call = term.text;
    if (call.empty()) {
      text += fmt::format("  c{0} = {1}[] constant({2})\n  b{0} = {3} broadcast(c{0}), dimensions={{}}\n",
                          name, Name(tried.type), term.divisor, shape);
      call = fmt::format("divide({}, b{})", term.of[0], name);
    }
    text += fmt::format("  {} = {} {}\n", name, shape, call);
    roots.push_back(name);
    shapes.push_back(shape);
  }
  text += fmt::format("  ROOT t = ({}) tuple({})\n}}\n", fmt::join(shapes, ", "), fmt::join(roots, ", "));
  return {text, std::move(arguments)};
}

// What one term's results say.
MeasuredFunction Compare(const Tried& tried, const Term& term, const Literal& exact, const Literal& actual) {
  MeasuredFunction measured{term.op, tried.type};
  measured.is_exhaustive = tried.is_exhaustive && term.of[0] == "x";
  const FloatFormat& format = *Info(tried.type).format;
  const double tiny = std::ldexp(1, format.min_exponent);
  double worst = 0;
  int64_t at = -1;
  for (int64_t i = 0; i < exact.shape().num_elements(); ++i) {
    const double e = exact.GetDouble(i), a = actual.GetDouble(i);
    if (!std::isfinite(e) || !std::isfinite(a)) {
      measured.not_finite += std::isfinite(e) != std::isfinite(a);
      continue;
    }
    if (std::fabs(e) < tiny || std::fabs(a) < tiny) {
      measured.underflows = measured.underflows || (a == 0 && std::fabs(e) > 8 * format.min_subnormal);
      continue;
    }
    ++measured.compared;
    const double distance = std::fabs(a - e) / std::ldexp(1, std::ilogb(e) - format.mantissa_bits);
    if (distance <= worst) continue;
    worst = distance;
    at = i;
  }
  measured.ulps = worst + 0.5;
  for (const std::string& name : term.of) {
    if (at >= 0)
      measured.at.push_back(
          ArrayOf(name == "w" ? tried.from : tried.type, {tried.Of(name)[static_cast<size_t>(at)]})
              .GetDouble(0));
  }
  if (at >= 0 && term.divisor != 0) measured.at.push_back(term.divisor);
  return measured;
}

// The worst of what is measured of one operation.
void Merge(std::vector<MeasuredFunction>& functions, const MeasuredFunction& measured) {
  for (MeasuredFunction& known : functions) {
    if (known.op != measured.op || known.type != measured.type) continue;
    if (measured.ulps > known.ulps) {
      known.ulps = measured.ulps;
      known.at = measured.at;
    }
    known.compared += measured.compared;
    known.not_finite += measured.not_finite;
    known.underflows = known.underflows || measured.underflows;
    return;
  }
  functions.push_back(measured);
}

// Runs all terms as one program, and where the backend refuses that each as one.
absl::Status MeasureTerms(Both& both, const Tried& tried, std::span<const Term> terms, Measurement& result,
                          absl::Status& refusal) {
  const auto [text, arguments] = ProgramOf(tried, terms);
  const absl::StatusOr<BothOutputs> outputs = both.Run(text, arguments);
  if (outputs.ok()) {
    for (size_t k = 0; k < terms.size(); ++k)
      Merge(result.functions, Compare(tried, terms[k], outputs->exact[k], outputs->actual[k]));
    return absl::OkStatus();
  }
  if (!IsRefusal(outputs.status())) return outputs.status();
  if (terms.size() == 1) {
    refusal = outputs.status();
    result.refused.push_back(fmt::format("{} {}: {}", Name(terms[0].op), Name(tried.type),
                                         std::string(outputs.status().message())));
    return absl::OkStatus();
  }
  for (size_t k = 0; k < terms.size(); ++k)
    ASSAY_RETURN_IF_ERROR(MeasureTerms(both, tried, terms.subspan(k, 1), result, refusal));
  return absl::OkStatus();
}

std::string OneLine(std::string text) {
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 0x20) c = ' ';
  }
  return text;
}

}  // namespace

double AllowedUlps(Opcode op, double ulps, bool is_exhaustive) {
  const double halves = std::ceil(2 * ulps) / 2;
  const bool is_basic = std::find(std::begin(kBasic), std::end(kBasic), Name(op)) != std::end(kBasic);
  if (is_exhaustive || (is_basic && ulps <= 0.5)) return halves;
  return std::ceil(2 * (ulps + std::max(1.0, ulps / 4))) / 2;
}

double MeasuredFunction::allowed() const { return AllowedUlps(op, ulps, is_exhaustive); }

bool Measurement::is_exact() const {
  for (const MeasuredFunction& function : functions) {
    if (function.ulps > 0.5 || function.not_finite > 0 || function.underflows) return false;
  }
  return refused.empty() && !found.contracts && found.keeps_precision == kNoTypes &&
         found.flushes == kNoTypes &&
         std::all_of(found.dot_input_bits.begin(), found.dot_input_bits.end(),
                     [](int b) { return b == 0; }) &&
         std::all_of(found.tensor_core_bits.begin(), found.tensor_core_bits.end(),
                     [](int b) { return b == 0; });
}

absl::StatusOr<Measurement> MeasureProfile(Backend& backend, const MeasureOptions& options) {
  Both both(backend, options);
  Measurement result;
  absl::Status refusal;
  const WorkStage stage("element types", static_cast<int64_t>(std::size(kTypes)));
  int64_t done = 0;
  for (const ElementType type : kTypes) {
    ASSAY_RETURN_IF_ERROR(MeasureTerms(both, TriedFor(type, options), TermsOf(type), result, refusal));
    stage.Done(++done);
  }
  if (result.functions.empty()) return refusal;
  ASSAY_RETURN_IF_ERROR(RunProbes(both, result.found, result.refused));
  return result;
}

std::string MeasuredProfileText(const Measurement& measurement, const std::vector<Profile::Origin>& origin) {
  std::string text;
  for (const Profile::Origin& line : origin) text += fmt::format("{} {}\n", line.key, OneLine(line.text));
  text += "inherit strict\n";
  if (measurement.is_exact())
    return text + "# Every result was the exact one, rounded once: nothing is added.\n";
  text +=
      "# Functions that are not named are made of others. A line has what is allowed, and what was measured: "
      "docs/bounds.md has the rule.\n"
      "ulps * * 4\n";
  for (const MeasuredFunction& function : measurement.functions) {
    text += fmt::format("ulps {} {} {}  # {:.4g}", Name(function.op), Name(function.type), function.allowed(),
                        function.ulps);
    if (!function.at.empty()) text += fmt::format(" at {}", fmt::join(function.at, ", "));
    if (function.is_exhaustive) text += ", of all arguments";
    if (function.not_finite > 0) text += fmt::format("; {} not finite on one side", function.not_finite);
    text += "\n";
    const bool flushes = measurement.found.flushes.Has(function.type);
    if (function.underflows && !flushes)
      text += fmt::format("underflows {} {}\n", Name(function.op), Name(function.type));
  }
  for (const std::string& refused : measurement.refused)
    text += fmt::format("# not measured: {}\n", OneLine(refused.substr(0, 200)));
  return text + TextOf(measurement.found);
}

}  // namespace assay
