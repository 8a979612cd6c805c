#include "base/counted.h"

namespace assay {
namespace {

std::string PluralOf(std::string_view noun) {
  const std::string_view stem = noun.substr(0, noun.size() - 1);
  if (noun.ends_with("axis")) return std::string(noun.substr(0, noun.size() - 2)) + "es";
  if (noun.ends_with('y') && !noun.ends_with("ay") && !noun.ends_with("ey")) return std::string(stem) + "ies";
  const bool hisses = noun.ends_with('s') || noun.ends_with("sh") || noun.ends_with("ch");
  return std::string(noun) + (hisses ? "es" : "s");
}

}  // namespace

std::string CountedText(std::string_view digits, std::string_view noun) {
  return std::string(digits) + ' ' + (digits == "1" ? std::string(noun) : PluralOf(noun));
}

}  // namespace assay
