#include "custom/ffi/library.h"

#include "tests/custom/ffi/handler_testing.h"
#include "tests/custom/library_file.h"

namespace assay::custom::ffi {
namespace {

using Catch::Contains;

std::string LibraryOf(const std::string& name) { return LibraryFileOf("ffi_libraries/" + name); }

std::string Refusal(const absl::Status& status) {
  return status.ok() ? "" : fmt::format("exit {}: {}", ExitCodeOf(status), std::string(status.message()));
}

std::string Given(const FfiOps& ops, std::string_view target) {
  return Called(std::make_shared<const FfiOps>(ops), CallProgram(target, {}, "s32[]"), {});
}

TEST_CASE("ffi: a library registers its handlers when it is loaded, for every set that loads it",
          "[custom][ffi]") {
  for (int i = 0; i < 2; ++i) {
    FfiOps ops;
    const absl::StatusOr<std::vector<std::string>> targets = LoadFfiLibrary(LibraryOf("two_handlers"), ops);
    INFO(targets.status());
    REQUIRE(targets.ok());
    CHECK(*targets == std::vector<std::string>{"library.One", "library.Two"});
    CHECK(Given(ops, "library.One") == "1");
    CHECK(Given(ops, "library.Two") == "2");
    CHECK(LoadFfiLibrary(LibraryOf("two_handlers"), ops).ok());
  }
}

TEST_CASE("ffi: a handler that a library exports gets a target by its symbol", "[custom][ffi]") {
  FfiOps ops;
  CHECK(Refusal(RegisterFfiSymbol("a", LibraryOf("no_handlers"), "Four", ops)).empty());
  CHECK(Refusal(AddFfiOption("b=" + LibraryOf("two_handlers") + ":Three", ops)).empty());
  CHECK(Refusal(AddFfiOption(LibraryOf("two_handlers"), ops)).empty());
  CHECK(Given(ops, "a") == "4");
  CHECK(Given(ops, "b") == "3");
  CHECK(Given(ops, "library.Two") == "2");
  CHECK_THAT(Refusal(RegisterFfiSymbol("c", LibraryOf("no_handlers"), "Five", ops)),
             Contains("no symbol 'Five'"));
  CHECK_THAT(Refusal(RegisterFfiSymbol("a", LibraryOf("two_handlers"), "Three", ops)),
             Contains("target 'a' is registered already"));
  CHECK_THAT(Refusal(RegisterFfiSymbol("TopK", LibraryOf("two_handlers"), "Three", ops)),
             Contains("Assay itself"));
}

TEST_CASE("ffi: a library gives what it registers after a symbol of it was taken, too", "[custom][ffi]") {
  FfiOps ops;
  CHECK(Refusal(AddFfiOption("c=" + LibraryOf("both_forms") + ":Five", ops)).empty());
  CHECK(ops.Find("library.Six") == nullptr);
  CHECK(Refusal(AddFfiOption(LibraryOf("both_forms"), ops)).empty());
  CHECK(Given(ops, "c") == "5");
  CHECK(Given(ops, "library.Six") == "6");
}

TEST_CASE("ffi: a library of which one handler is refused adds none, and is named", "[custom][ffi]") {
  FfiOps ops;
  const std::string text = Refusal(LoadFfiLibrary(LibraryOf("half_good"), ops).status());
  CHECK_THAT(text,
             Contains("exit 4: ") && Contains("half_good.so: ffi: target 'library.Late'") && Contains("0.4"));
  CHECK(ops.empty());
  REQUIRE(LoadFfiLibrary(LibraryOf("two_handlers"), ops).ok());
  CHECK_FALSE(LoadFfiLibrary(LibraryOf("half_good"), ops).ok());
  CHECK(ops.Find("library.Good") == nullptr);
}

TEST_CASE("ffi: what is no library of handlers is refused by its name", "[custom][ffi]") {
  FfiOps ops;
  CHECK_THAT(Refusal(LoadFfiLibrary("/nowhere/a.so", ops).status()),
             Contains("exit 5: ") && Contains("/nowhere/a.so"));
  CHECK_THAT(Refusal(LoadFfiLibrary("README.md", ops).status()),
             Contains("exit 5: ") && Contains("README.md"));
  CHECK_THAT(Refusal(LoadFfiLibrary(LibraryOf("no_handlers"), ops).status()),
             Contains("exit 5: ") && Contains("registers no handlers"));
  for (const char* const option : {"=a.so:b", "a=b.so", "a=:b", "a=b.so:", "a="})
    CHECK_THAT(Refusal(AddFfiOption(option, ops)), Contains("want TARGET=LIB.so:SYMBOL"));
  CHECK(ops.empty());
}

}  // namespace
}  // namespace assay::custom::ffi
