// Texts of programs that tests of several engines run: reductions, windows, dots.
#ifndef ASSAY_TESTS_ENGINES_ENGINE_TESTING_H_
#define ASSAY_TESTS_ENGINES_ENGINE_TESTING_H_

#include <string>
#include <string_view>
#include <vector>

#include "fmt/format.h"

namespace assay::testing {

// The computation that a reduction, window or scatter calls: `root` of the scalars a and b.
inline std::string ApplyOf(std::string_view type, std::string_view root) {
  return fmt::format(R"(to_apply={{ a = {0}[] parameter(0)
 b = {0}[] parameter(1)
 ROOT c = {1} }})",
                     type, root);
}

inline std::string RootOf(std::string_view type, std::string_view op) {
  return fmt::format("{}[] {}(a, b)", type, op);
}

// One that is not the same the other way round, and passes NaNs through as they are.
inline std::string OrderedRootOf(const std::string& type) {
  if (type == "pred") return "pred[] compare(a, b), direction=LT";
  if (type[0] == 's' || type[0] == 'u') return type + "[] subtract(a, b)";
  return type + "[] multiply(b, a)";
}

inline std::string ReduceOf(std::string_view type, std::string_view sizes, std::string_view dimensions,
                            std::string_view result, std::string_view root) {
  return fmt::format(R"(x = {0}[{1}] parameter(0)
i = {0}[] parameter(1)
ROOT z = {0}[{2}] reduce(x, i), dimensions={{{3}}}, {4})",
                     type, sizes, result, dimensions, ApplyOf(type, root));
}

inline std::string ReduceWindowOf(std::string_view type, std::string_view sizes, std::string_view result,
                                  std::string_view window, std::string_view root) {
  return fmt::format(R"(x = {0}[{1}] parameter(0)
i = {0}[] parameter(1)
ROOT z = {0}[{2}] reduce-window(x, i), window={{{3}}}, {4})",
                     type, sizes, result, window, ApplyOf(type, root));
}

// Dots with several batch dimensions, and with several contracted ones.
inline std::vector<std::string> DotsOfManyDimensions(std::string_view in, std::string_view out) {
  return {fmt::format(
              R"(x = {0}[6,5,7,3] parameter(0)
y = {0}[3,9,6,7] parameter(1)
ROOT r = {1}[7,6,5,9] dot(x, y), lhs_batch_dims={{2,0}}, rhs_batch_dims={{3,2}}, lhs_contracting_dims={{3}}, rhs_contracting_dims={{0}})",
              in, out),
          fmt::format(
              R"(x = {0}[7,5,11,3] parameter(0)
y = {0}[3,19,5,8] parameter(1)
ROOT r = {1}[7,11,19,8] dot(x, y), lhs_contracting_dims={{1,3}}, rhs_contracting_dims={{2,0}})",
              in, out)};
}

}  // namespace assay::testing

#endif  // ASSAY_TESTS_ENGINES_ENGINE_TESTING_H_
