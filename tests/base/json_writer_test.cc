#include "base/json_writer.h"

#include <cstdint>
#include <limits>
#include <optional>

#include "catch2/catch.hpp"

namespace assay {
namespace {

TEST_CASE("json writer: objects and arrays inside of each other", "[base][json]") {
  JsonWriter json;
  const std::vector<int64_t> none;
  json.Object("a", 1, "b", std::vector<int64_t>{2, 3}, "c", none);
  CHECK(json.text() == R"({"a": 1, "b": [2, 3], "c": []})");
}

TEST_CASE("json writer: what values of each kind look like", "[base][json]") {
  JsonWriter json;
  const double infinity = std::numeric_limits<double>::infinity();
  json.Object("string \"", std::string("\n"), "bool", true, "double", 0.1, "large", uint64_t{1} << 63, "none",
              std::optional<int64_t>(), "some", std::optional<int64_t>(-1), "infinite", infinity, "text",
              JsonText{"[]"}, "digits", SignificantDigits(1234.56, 3), "places", DecimalPlaces(2.5, 3));
  CHECK(json.text() ==
        R"({"string \"": "\u000a", "bool": true, "double": 0.1, "large": 9223372036854775808, )"
        R"("none": null, "some": -1, "infinite": null, "text": [], "digits": 1.23e+03, )"
        R"("places": 2.500})");
}

TEST_CASE("json writer: separators belong to their brackets", "[base][json]") {
  JsonWriter json;
  json.Begin("{", ";");
  json.Fields("a", 1, "b", [&] {
    json.Array(
        std::vector<int64_t>{1, 2}, [&](int64_t i) { json.Write(i); }, "\n");
  });
  json.SeparateBy("|");
  json.Fields("c", "d");
  json.End("}");
  CHECK(json.text() == "{\"a\": 1;\"b\": [1\n2]|\"c\": \"d\"}");
}

TEST_CASE("json writer: fields without brackets, and going on behind what was taken out", "[base][json]") {
  JsonWriter json;
  json.Fields("a", 1);
  json.text().clear();
  json.Fields("b", 2);
  CHECK(json.text() == ", \"b\": 2");
}

}  // namespace
}  // namespace assay
