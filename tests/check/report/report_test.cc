// Pages of reports: what is counted, and that nothing of the program becomes markup.
#include "check/report/report.h"

#include <cmath>
#include <numeric>
#include <regex>

#include "check/report/html.h"
#include "tests/check/bounds_testing.h"

namespace assay::testing {
namespace {

std::string PageOf(const std::string& text, std::vector<Literal> arguments, const Literal& actual,
                   const GraphLimits& limits = {}) {
  const absl::StatusOr<Program> program = Program::Load("test.hlo", "HloModule m\n" + text);
  REQUIRE(program.ok());
  const BoundedOutputs bounded = Bounded(text, std::move(arguments));
  const std::vector<ReportedOutput> outputs = {JudgeForReport(bounded.outputs[0], &actual)};
  const absl::StatusOr<Profile> profile = LoadProfile("strict");
  const ReportHeader header = {"a<b>.hlo", "in.npz", "out & \"in\"", "exact", "assay diff '<i>'", "1.0"};
  const absl::StatusOr<std::string> page =
      HtmlReport({header, program->module(), *profile, outputs, bounded.unchecked, {}, nullptr}, limits);
  REQUIRE(page.ok());
  return *page;
}

int64_t CountOf(const std::string& text, const std::string& what) {
  int64_t count = 0;
  for (size_t k = text.find(what); k != std::string::npos; k = text.find(what, k + 1)) ++count;
  return count;
}

}  // namespace

TEST_CASE("report: text is text", "[check][report]") {
  CHECK(EscapeHtml("<a href=\"x\">&'") == "&lt;a href=&quot;x&quot;&gt;&amp;&#39;");
  CHECK(EscapeHtml("a\x01\xff") == "a\\x01\\xff");
  CHECK(EscapeHtml("é…") == "é…");
  CHECK(Shortened("abc", 3) == "abc");
  CHECK(Shortened("äöüß", 3) == "äöü…");
  // SHA-256 of nothing, by coreutils: sha256sum, and xxd -r -p | base64.
  CHECK(Base64OfHex("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855") ==
        "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=");
}

TEST_CASE("report: each element is in one bin of each histogram", "[check][report]") {
  ElementPicture picture(std::vector<int64_t>{100, 7});
  const double shares[] = {0, 0.005, 0.05, 0.2, 0.4, 0.7, 1, 1.5, INFINITY, 3};
  for (int64_t k = 0; k < 700; ++k) {
    const bool undecided = k % 70 == 69;
    const double share = undecided ? 0 : shares[k % 10];
    const ElementVerdict verdict = undecided    ? ElementVerdict::kUndecided
                                   : share <= 1 ? ElementVerdict::kInside
                                                : ElementVerdict::kOutside;
    picture.Add({k, verdict, share, int64_t{1} << (k % 64 % 63)});
  }
  CHECK(std::accumulate(picture.shares.begin(), picture.shares.end(), int64_t{0}) == 700);
  CHECK(std::accumulate(picture.ulps.begin(), picture.ulps.end(), int64_t{0}) == 700);
  CHECK(picture.shares == std::array<int64_t, 11>{70, 70, 70, 70, 70, 70, 70, 200, 10, 0, 0});
}

TEST_CASE("report: bins of ulps hold what they say", "[check][report]") {
  ElementPicture picture(std::vector<int64_t>{10});
  for (const int64_t ulps : {0, 1, 2, 3, 4, 5, 8, 9, 2048, 2049})
    picture.Add({0, ElementVerdict::kInside, 0, ulps});
  CHECK(picture.ulps == std::array<int64_t, 14>{1, 1, 1, 2, 2, 1, 0, 0, 0, 0, 0, 0, 1, 1});
  CHECK(ElementPicture::UlpBin(0) == "0");
  CHECK(ElementPicture::UlpBin(2) == "2");
  CHECK(ElementPicture::UlpBin(3) == "3 to 4");
  CHECK(ElementPicture::UlpBin(4) == "5 to 8");
  CHECK(ElementPicture::UlpBin(12) == "1025 to 2048");
  CHECK(ElementPicture::UlpBin(13) == "over 2048");
}

TEST_CASE("report: a cell of the map shows the worst of its elements", "[check][report]") {
  HeatMap map(std::vector<int64_t>{2, 3, 100}, 48);
  CHECK(map.lines() == 6);
  CHECK(map.line_length() == 100);
  CHECK(map.rows() == 6);
  CHECK(map.columns() == 48);
  // Element [1, 0, 51] is 51 of line 3: column 51 * 48 / 100.
  map.Add(3 * 100 + 51, Severity::kOutside);
  map.Add(3 * 100 + 50, Severity::kTenth);
  CHECK(map.At(3, 24) == Severity::kOutside);
  CHECK(map.At(3, 23) == Severity::kEqual);
  CHECK(map.ElementsOf(24) == std::pair<int64_t, int64_t>{50, 53});
  int64_t covered = 0;
  for (int64_t column = 0; column < 48; ++column)
    covered += map.ElementsOf(column).second - map.ElementsOf(column).first;
  CHECK(covered == 100);
  // Long lines of one dimension are folded; scalars have one cell; empty arrays none.
  HeatMap line(std::vector<int64_t>{10000}, 48);
  CHECK(line.lines() == 100);
  line.Add(9999, Severity::kOutside);
  CHECK(line.At(47, 47) == Severity::kOutside);
  HeatMap scalar({}, 48);
  scalar.Add(0, Severity::kHalf);
  CHECK(scalar.At(0, 0) == Severity::kHalf);
  CHECK(HeatMap(std::vector<int64_t>{0, 5}, 48).rows() == 0);
}

TEST_CASE("report: nothing of the program or its backend becomes markup", "[check][report]") {
  const std::string page = PageOf(R"(ENTRY e { x = f32[2] parameter(0)
  ROOT y = f32[2] add(x, x), metadata={op_name="</script><img src=x onerror=alert(1)>"} })",
                                  {Literal::FromDoubles(ElementType::kF32, {{2}}, {{1, 2}})},
                                  Literal::FromDoubles(ElementType::kF32, {{2}}, {{2, 4.5}}));
  CHECK(CountOf(page, "<img") == 0);
  CHECK(CountOf(page, "&lt;img src=x onerror=alert(1)&gt;") == 1);
  CHECK(CountOf(page, "</script>") == 1);
  CHECK(CountOf(page, "assay diff &#39;&lt;i&gt;&#39;") == 1);
  CHECK(CountOf(page, "a&lt;b&gt;.hlo") == 1);
  CHECK(CountOf(page, "out &amp; &quot;in&quot;") == 1);
  // Inline styles and handlers are what the page's policy refuses,
  // and addresses what a page of its own has none of.
  CHECK(CountOf(page, " style=") == 0);
  CHECK(CountOf(page, " onclick=") == 0);
  CHECK(CountOf(page, "http://") == 0);
  CHECK(CountOf(page, "https://") == 0);
}

TEST_CASE("report: the page says what was found", "[check][report]") {
  const std::string text = R"(ENTRY e { x = f32[2] parameter(0)
  ROOT y = f32[2] add(x, x) })";
  const Literal x = Literal::FromDoubles(ElementType::kF32, {{2}}, {{1, 2}});
  const std::string wrong = PageOf(text, {x}, Literal::FromDoubles(ElementType::kF32, {{2}}, {{2, 4.5}}));
  CHECK(CountOf(wrong, "a bug, proven") == 1);
  CHECK(CountOf(wrong, "Of 2 elements 1 are outside, 0 undecided and 1 inside") == 1);
  CHECK(CountOf(wrong, "<th scope=\"row\">out0 [1]</th><td>✗ outside</td>") == 1);
  CHECK(CountOf(wrong, "out0: ✗ 1 outside") >= 1);
  const std::string right = PageOf(text, {x}, Literal::FromDoubles(ElementType::kF32, {{2}}, {{2, 4}}));
  CHECK(CountOf(right, "✓ Inside: what differs is rounding") == 1);
  CHECK(right == PageOf(text, {x}, Literal::FromDoubles(ElementType::kF32, {{2}}, {{2, 4}})));
}

TEST_CASE("report: of large programs the page shows what is worst", "[check][report]") {
  std::string text = "ENTRY e { x.0 = f32[2] parameter(0)\n";
  for (int k = 1; k < 400; ++k) {
    text += "  " + std::string(k == 399 ? "ROOT " : "") + "x." + std::to_string(k) + " = f32[2] negate(x." +
            std::to_string(k - 1) + ")\n";
  }
  const std::string page = PageOf(text + "}", {Literal::FromDoubles(ElementType::kF32, {{2}}, {{1, 2}})},
                                  Literal::FromDoubles(ElementType::kF32, {{2}}, {{-1, 3}}),
                                  {.most_in_graph = 100, .most_around = 30, .most_rows = 50});
  CHECK(CountOf(page, "Of this computation 30 instructions are drawn") == 1);
  CHECK(CountOf(page, "<rect x=") == 30);
  CHECK(CountOf(page, "href=\"#r0-399\"") >= 1);
  CHECK(CountOf(page, "The worst 50 of 400 are shown.") == 1);
  CHECK(CountOf(page, "<tr id=\"r0-399\"") + CountOf(page, "<tr id=\"r0-399\" class=\"wrong\"") >= 1);
}

}  // namespace assay::testing
