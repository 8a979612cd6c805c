// Cases made of templates: one of each type.
#include <algorithm>
#include <limits>

#include "check/suite/edge_values.h"
#include "check/suite/suite_case.h"
#include "fmt/format.h"
#include "literal/literal_text.h"
#include "shape/shape_text.h"

namespace assay {
namespace {

void ReplaceAll(std::string& text, std::string_view from, std::string_view to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
}

// f32 of c64 and c64 of f32; the type itself where it has no such partner.
ElementType PartnerOf(ElementType type) {
  if (IsComplex(type)) return ComponentType(type);
  if (type == ElementType::kF32) return ElementType::kC64;
  return type == ElementType::kF64 ? ElementType::kC128 : type;
}

std::string_view Trimmed(std::string_view text) {
  const size_t begin = std::min(text.find_first_not_of(' '), text.size());
  const size_t end = text.find_last_not_of(' ');
  return end == std::string_view::npos ? "" : text.substr(begin, end - begin + 1);
}

std::vector<std::string_view> SplitAt(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (!Trimmed(text).empty()) {
    const size_t end = std::min(text.find(separator), text.size());
    if (!Trimmed(text.substr(0, end)).empty()) parts.push_back(Trimmed(text.substr(0, end)));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

ScalarValue OfReal(ElementType type, double real) {
  ScalarValue value;
  value.kind = KindOf(type);
  value.b = real != 0;
  value.i = static_cast<int64_t>(real);
  value.u = static_cast<uint64_t>(real);
  value.r = real;
  value.c = real;
  return value;
}

// The smallest (largest) value of the type: infinite where there is such.
ScalarValue EndOf(ElementType type, bool is_largest) {
  if (IsFloat(type)) {
    const FloatFormat& format = *Info(type).format;
    const double end = format.has_infinity() ? std::numeric_limits<double>::infinity() : format.max_finite;
    return OfReal(type, is_largest ? end : -end);
  }
  ScalarValue value = OfReal(type, is_largest ? 1 : 0);
  if (IsSignedIntegral(type)) {
    const int64_t low = WrapSigned(int64_t{1} << (Bits(type) - 1), Bits(type));
    value.i = is_largest ? -1 - low : low;
  } else if (IsIntegral(type)) {
    value.u = is_largest ? WrapUnsigned(~uint64_t{0}, Bits(type)) : 0;
  }
  return value;
}

// All bits of an integer are set.
ScalarValue AllOnes(ElementType type) {
  ScalarValue value = EndOf(type, /*is_largest=*/true);
  if (IsSignedIntegral(type)) value.i = -1;
  return value;
}

std::vector<ScalarValue> Filled(std::string_view how, ElementType type, int64_t count, SuiteRandom& random) {
  std::vector<ScalarValue> values;
  const std::vector<EdgeValue> edges = EdgeValues(type, 0, random);
  for (int64_t i = 0; i < count; ++i) {
    if (how == "edges") values.push_back(edges[random.Below(edges.size())].value);
    if (how == "ordinary") values.push_back(OrdinaryValue(type, random));
    if (how == "zero") values.push_back(OfReal(type, 0));
    if (how == "one") values.push_back(OfReal(type, 1));
    if (how == "least" || how == "largest") values.push_back(EndOf(type, how == "largest"));
    if (how == "ones") values.push_back(AllOnes(type));
  }
  return values;
}

absl::StatusOr<Literal> ArgumentOf(std::string_view text, SuiteRandom& random) {
  constexpr std::string_view kFillings[] = {"edges", "ordinary", "zero", "one", "least", "largest", "ones"};
  const size_t blank = std::min(text.find(' '), text.size());
  const std::string_view how = text.substr(0, blank);
  if (std::find(std::begin(kFillings), std::end(kFillings), how) == std::end(kFillings))
    return ParseShapedLiteral(text);
  ASSAY_ASSIGN_OR_RETURN(const Shape shape, ParseShape(Trimmed(text.substr(blank))));
  const std::vector<int64_t> sizes(shape.sizes().begin(), shape.sizes().end());
  return ArrayOf(shape.element_type(), sizes,
                 Filled(how, shape.element_type(), shape.num_elements(), random));
}

absl::Status AddCasesOf(const SuiteTemplate& of, uint64_t seed, const AddCase& add) {
  for (int i = 0; i < kNumElementTypes; ++i) {
    const auto type = static_cast<ElementType>(i);
    if (!of.types.Has(type)) continue;
    SuiteCase made;
    made.id = fmt::format("{}/{}/{}", Name(of.op), Name(type), of.what);
    made.op = of.op;
    made.type = type;
    made.what = of.what;
    made.settled = of.settled;
    for (const std::string_view tag : SplitAt(of.tags, ' ')) made.tags.emplace_back(tag);
    const auto with_type = [&](std::string_view text) {
      std::string replaced(text);
      ReplaceAll(replaced, "$T", Name(type));
      ReplaceAll(replaced, "$C", Name(PartnerOf(type)));
      return replaced;
    };
    made.program = with_type(of.program.substr(1)) + "\n";
    SuiteRandom random(seed, made.id);
    const std::string arguments = with_type(of.arguments);
    for (const std::string_view text : SplitAt(arguments, ';')) {
      absl::StatusOr<Literal> argument = ArgumentOf(text, random);
      if (!argument.ok())
        return absl::Status(argument.status().code(), fmt::format("{}: '{}': {}", made.id, text,
                                                                  std::string(argument.status().message())));
      made.arguments.push_back(*std::move(argument));
    }
    add(std::move(made));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status AddTemplateCases(uint64_t seed, const AddCase& add) {
  for (const auto* const templates : {&MoveTemplates(), &ReductionTemplates(), &ControlTemplates()}) {
    for (const SuiteTemplate& of : *templates) ASSAY_RETURN_IF_ERROR(AddCasesOf(of, seed, add));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<SuiteCase>> AllSuiteCases(uint64_t seed) {
  std::vector<SuiteCase> cases;
  const AddCase add = [&](SuiteCase made) { cases.push_back(std::move(made)); };
  AddElementwiseCases(seed, add);
  ASSAY_RETURN_IF_ERROR(AddTemplateCases(seed, add));
  std::sort(cases.begin(), cases.end(), [](const SuiteCase& a, const SuiteCase& b) { return a.id < b.id; });
  return cases;
}

}  // namespace assay
