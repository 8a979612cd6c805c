// Names of the files that XLA dumps.
#include "find/passes/dump_folder.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

namespace assay::testing {
namespace {

namespace fs = std::filesystem;

// A folder with empty files of these names.
class Folder {
 public:
  explicit Folder(const std::vector<std::string>& files) {
    path_ = (fs::temp_directory_path() / "assay-dumps-XXXXXX").string();
    REQUIRE(mkdtemp(path_.data()) != nullptr);
    for (const std::string& file : files) std::ofstream(path_ + "/" + file) << "";
  }
  ~Folder() { fs::remove_all(path_); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace

TEST_CASE("dump folder: names of files", "[find][passes]") {
  const auto pass = ParseDumpName(
      "module_0003.jit_f.0017.simplification_after_layout_assignment.after_algsimp.before_simplify-sorts."
      "txt");
  REQUIRE(pass);
  CHECK(pass->module == "module_0003.jit_f");
  CHECK(pass->number == 17);
  CHECK(pass->pipeline == "simplification_after_layout_assignment");
  CHECK(pass->pass == "algsimp");
  CHECK(pass->next == "simplify-sorts");
  CHECK(pass->Title() == "algsimp of simplification_after_layout_assignment (0017)");

  // A module's name may have dots and numbers; a pass may tell of no next one.
  const auto inner = ParseDumpName("module_0001.a.1234.b.0019.copy-insertion.after_adding_copies.hlo.pb");
  REQUIRE(inner);
  CHECK(inner->module == "module_0001.a.1234.b");
  CHECK(inner->number == 19);
  CHECK(inner->pass == "adding_copies");
  CHECK(inner->next.empty());

  // The pipeline after_layout_assignment, and a pass of none.
  const auto pipeline = ParseDumpName(
      "module_0008.jit_f.0012.after_layout_assignment.after_pipeline-start.before_pipeline-end.txt");
  REQUIRE(pipeline);
  CHECK(pipeline->number == 12);
  CHECK(pipeline->pipeline == "after_layout_assignment");
  CHECK(pipeline->pass == "pipeline-start");
  CHECK(pipeline->next == "pipeline-end");
  const auto alone = ParseDumpName("module_0008.jit_f.0012.after_dce.before_cse.txt");
  REQUIRE(alone);
  CHECK(alone->pipeline.empty());
  CHECK(alone->pass == "dce");

  const auto before = ParseDumpName("module_0001.jit_f.before_optimizations.txt");
  REQUIRE(before);
  CHECK(before->number == DumpFile::kBefore);
  CHECK(before->module == "module_0001.jit_f");
  for (const char* const name : {"module_0001.jit_f.cpu_after_optimizations.hlo",
                                 "module_0001.jit_f.sm_9.0_gpu_after_optimizations.txt"}) {
    const auto after = ParseDumpName(name);
    REQUIRE(after);
    CHECK(after->number == DumpFile::kAfter);
    CHECK(after->module == "module_0001.jit_f");
  }
  for (const char* const name :
       {"module_0000.jit_f.cpu_after_optimizations-buffer-assignment.txt", "module_0000.jit_f.debug_options",
        "module_0000.jit_f.ir-no-opt.ll", "jit_f.0001.p.after_q.txt", "module_0000.jit_f.txt", "a.txt"}) {
    CHECK(!ParseDumpName(name));
  }
}

TEST_CASE("dump folder: steps in order, by module", "[find][passes]") {
  const Folder folder(
      {"module_0000.jit_f.0002.p.after_b.before_c.txt", "module_0000.jit_f.cpu_after_optimizations.txt",
       "module_0000.jit_f.0001.p.after_a.before_b.txt", "module_0000.jit_f.0001.p.after_a.before_b.hlo.pb",
       "module_0000.jit_f.before_optimizations.txt", "module_0001.jit_g.0001.p.after_a.txt",
       "module_0000.jit_f.cpu_after_optimizations-memory-usage-report.txt", "notes.txt"});
  const auto all = ReadDumpFolder(folder.path(), "");
  REQUIRE(all.ok());
  REQUIRE(all->size() == 2);
  std::vector<std::string> files;
  for (const DumpFile& dump : (*all)[0].files) files.push_back(dump.file);
  // Of a text and a proto the proto is taken.
  CHECK(files == std::vector<std::string>{"module_0000.jit_f.before_optimizations.txt",
                                          "module_0000.jit_f.0001.p.after_a.before_b.hlo.pb",
                                          "module_0000.jit_f.0002.p.after_b.before_c.txt",
                                          "module_0000.jit_f.cpu_after_optimizations.txt"});
  const auto one = ReadDumpFolder(folder.path(), "jit_g$");
  REQUIRE(one.ok());
  CHECK(one->size() == 1);
  CHECK((*one)[0].module == "module_0001.jit_g");
  CHECK(ExitCodeOf(ReadDumpFolder(folder.path(), "jit_h").status()) == 5);
  CHECK(ExitCodeOf(ReadDumpFolder(folder.path(), "(").status()) == 5);
  CHECK(ExitCodeOf(ReadDumpFolder(folder.path() + "/none", "").status()) == 5);
}

}  // namespace assay::testing
