#include "tools/pair_text.h"

#include <limits>

#include "base/counted.h"
#include "base/json_writer.h"
#include "fmt/format.h"
#include "fmt/ranges.h"
#include "hlo/diagnostics.h"
#include "tools/conformance_text.h"

namespace assay::cli {
namespace {

// "%multiply.3 = f32[12] multiply, in %body, run 2 of 5"
std::string DescribedRun(const ShownRun& of) {
  std::string text = fmt::format("%{} = {} {}", EscapeControls(of.name), of.shape, of.op);
  if (!of.computation.empty()) text += fmt::format(", in %{}", EscapeControls(of.computation));
  if (of.runs > 1) text += fmt::format(", run {} of {}", of.ordinal + 1, of.runs);
  return text;
}

std::string PairText(const InstructionPair& pair) {
  std::string text = DescribedRun(pair.second) + "\n";
  if (!pair.first) return text + "  it has no counterpart in the first program\n";
  text +=
      fmt::format("  in the first program, by {}: {}\n", Name(pair.matched_by), DescribedRun(*pair.first));
  if (pair.different == 0) return text;
  text += fmt::format("  {} of {} differ", pair.different, Counted(pair.elements, "element"));
  if (pair.max_ulps < std::numeric_limits<int64_t>::max())
    text += fmt::format(", by up to {}", Counted(pair.max_ulps, "ulp"));
  text += "\n";
  for (const ElementPair& element : pair.shown) {
    text += fmt::format("  [{}]: {} in the first program, {} in the second\n", fmt::join(element.index, ","),
                        element.first, element.second);
  }
  return text;
}

void WriteRun(const ShownRun& of, JsonWriter& json) {
  json.Object("computation", of.computation, "name", of.name, "op", of.op, "shape", of.shape, "run",
              of.ordinal, "runs", of.runs);
}

void WritePair(const InstructionPair& pair, JsonWriter& json) {
  const auto write_first = [&] { pair.first ? WriteRun(*pair.first, json) : json.Write(JsonText{"null"}); };
  const auto write_element = [&](const ElementPair& element) {
    json.Object("index", element.index, "first", element.first, "second", element.second);
  };
  json.Object(
      "second", [&] { WriteRun(pair.second, json); }, "first", write_first, "matched_by",
      pair.first ? std::optional(std::string(Name(pair.matched_by))) : std::nullopt, "elements",
      pair.elements, "different", pair.different, "max_ulps", pair.max_ulps, "shown",
      [&] { json.Array(pair.shown, write_element); });
}

std::string LineOf(std::string_view whose, const Conformance& by) {
  if (!by.error.empty()) return fmt::format("  by the bounds of the {}: none: {}\n", whose, by.error);
  std::string text = fmt::format("  by the bounds of the {}: {} inside, {} outside, {} undecided", whose,
                                 by.inside, by.outside, by.unchecked);
  if (by.largest_share > 0) text += fmt::format("; inside up to {:.2g} of the bound", by.largest_share);
  text += "\n";
  for (const Conformance::Element& element : by.worst) {
    if (element.share <= 1) break;
    text += fmt::format("    outside [{}]: {} of its own, {} of the other ({} ulps), bound +-{:.6g}\n",
                        fmt::join(element.index, ","), element.exact, element.actual, element.ulps,
                        element.radius);
  }
  return text;
}

}  // namespace

std::string TextOf(const FirstDifference& difference) {
  std::string text = "first difference: " + PairText(difference.pair);
  if (difference.counterpart_behind) {
    text += "the first one behind it with a counterpart: " + PairText(*difference.counterpart_behind);
  }
  if (difference.outside)
    text += "first one outside of its counterpart's bounds: " + PairText(*difference.outside);
  if (!difference.is_complete) text += "the programs run too many steps: only the first ones were compared\n";
  return text;
}

void WriteJson(const FirstDifference& difference, JsonWriter& json) {
  const auto write_behind = [&] {
    difference.counterpart_behind ? WritePair(*difference.counterpart_behind, json)
                                  : json.Write(JsonText{"null"});
  };
  json.Object(
      "pair", [&] { WritePair(difference.pair, json); }, "counterpart_behind", write_behind, "outside",
      [&] { difference.outside ? WritePair(*difference.outside, json) : json.Write(JsonText{"null"}); },
      "differing", difference.differing, "complete", difference.is_complete);
}

std::string TextOf(const CollectiveDifference& difference) {
  return fmt::format(
      "the first collective behind which they differ is '%{} = {}', for '%{} = {}' of the whole program\n",
      EscapeControls(difference.name), difference.op, EscapeControls(difference.whole_name),
      difference.whole_op);
}

std::string TextOf(const PairBounds& bounds) {
  return fmt::format("{}: {}, by the bounds of either {} inside, {} outside, {} undecided\n",
                     EscapeControls(bounds.by_first.key), Counted(bounds.by_first.elements, "element"),
                     bounds.inside, bounds.outside, bounds.undecided) +
         LineOf("first program", bounds.by_first) + LineOf("second program", bounds.by_second);
}

void WriteJson(const PairBounds& bounds, JsonWriter& json) {
  json.Object(
      "inside", bounds.inside, "outside", bounds.outside, "undecided", bounds.undecided, "by_first",
      [&] { WriteJson(bounds.by_first, json); }, "by_second", [&] { WriteJson(bounds.by_second, json); });
}

}  // namespace assay::cli
