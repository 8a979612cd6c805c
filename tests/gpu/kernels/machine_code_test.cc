// The machine code that nvcc makes of the kernels of dots by residues and of dots within bounds. Skipped,
// saying so, where there is no toolkit. The size of all kernels.
#include <catch2/catch.hpp>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <sstream>
#include <string>

#include "fmt/format.h"
#include "gpu/kernels/images.h"

namespace assay::gpu {
namespace {

// A tool of the toolkit; empty: there is none.
std::string FindTool(const std::string& name) {
  std::vector<std::string> folders = {"/usr/local/cuda/bin"};
  if (const char* home = std::getenv("CUDA_HOME"); home != nullptr)
    folders.push_back(std::string(home) + "/bin");
  if (const char* path = std::getenv("PATH"); path != nullptr) {
    std::stringstream parts(path);
    for (std::string part; std::getline(parts, part, ':');) folders.push_back(part);
  }
  for (const std::string& folder : folders) {
    if (std::filesystem::exists(folder + "/" + name)) return folder + "/" + name;
  }
  return "";
}

std::string TextOf(const std::string& command, int* status) {
  std::string output;
  FILE* const pipe = popen((command + " 2>&1").c_str(), "r");
  REQUIRE(pipe != nullptr);
  char buffer[512];
  while (fgets(buffer, sizeof(buffer), pipe) != nullptr) output += buffer;
  *status = pclose(pipe);
  return output;
}

int CountOf(std::string_view text, std::string_view word) {
  int count = 0;
  for (size_t at = text.find(word); at != text.npos; at = text.find(word, at + word.size())) ++count;
  return count;
}

// What nvcc makes of kernels, in a folder that goes with it.
class Compiled {
 public:
  Compiled() { std::filesystem::create_directory(folder_); }
  ~Compiled() { std::filesystem::remove_all(folder_); }

  // Compiles a file of gpu/kernels for an architecture ("90a"); checks that no register is spilled, and
  // returns what nvcc says.
  std::string Compile(const std::string& nvcc, const std::string& source, const std::string& architecture) {
    int status = 0;
    const std::string output = TextOf(
        fmt::format("'{0}' -cubin -std=c++20 -fmad=false --expt-relaxed-constexpr "
                    "-allow-unsupported-compiler -I{1} -gencode=arch=compute_{2},code=sm_{2} -Xptxas -v "
                    "-o '{3}' {1}/gpu/kernels/{4}",
                    nvcc, ASSAY_SOURCE_DIR, architecture, image(), source),
        &status);
    INFO(output);
    REQUIRE(status == 0);
    CHECK(CountOf(output, "bytes spill stores") ==
          CountOf(output, "0 bytes spill stores, 0 bytes spill loads"));
    return output;
  }
  std::string image() const { return (folder_ / "kernels.cubin").string(); }

 private:
  const std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / fmt::format("assay_code_{}", std::random_device()());
};

// Between two functions' names, as nvdisasm marks them.
std::string_view CodeOf(std::string_view listing, std::string_view function) {
  const size_t begin = listing.find(fmt::format(".text.{}:", function));
  REQUIRE(begin != listing.npos);
  return listing.substr(begin, listing.find("\n.text.", begin + 1) - begin);
}

}  // namespace

TEST_CASE("the kernels make the library at most 8 MB larger", "[kernels]") {
  size_t bytes = 0;
  for (const KernelImageBounds* image = kKernelImages; image->module != nullptr; ++image)
    bytes += static_cast<size_t>(image->end - image->begin);
  CHECK(bytes <= 8'000'000);
}

TEST_CASE("kernels of dots by residues spill no registers", "[kernels][residues][nvcc][toolkit]") {
  const std::string nvcc = FindTool("nvcc"), disassembler = FindTool("nvdisasm");
  if (nvcc.empty()) {
    WARN("skipped: there is no nvcc in PATH, CUDA_HOME or /usr/local/cuda");
    return;
  }
  Compiled compiled;
  for (const std::string module : {"residues", "residue_product"}) {
    const std::string output = compiled.Compile(nvcc, fmt::format("residues/{}.cu", module), "90a");
    INFO(output);
    CHECK(CountOf(output, "Compiling entry function") == (module == "residues" ? 15 : 3));
    CHECK(CountOf(output, "bytes stack frame") == CountOf(output, " 0 bytes stack frame"));
    // Products that the assembler made wait for each other.
    CHECK(CountOf(output, "C7510") + CountOf(output, "C7515") == 0);
    if (module != "residue_product" || disassembler.empty()) continue;
    int status = 0;
    const std::string listing = TextOf(fmt::format("'{}' '{}'", disassembler, compiled.image()), &status);
    REQUIRE(status == 0);
    const std::string_view code = CodeOf(listing, "residue_product");
    CHECK(CountOf(code, "IGMMA.64x256x32.S8.S8") >= 4);
    CHECK(CountOf(code, "UBLKCP.S.G.MULTICAST") >= 1);
    CHECK(CountOf(code, "WARPGROUP.DEPBAR.LE gsb0, 0x1") >= 1);
    // Memory is ordered at the two barriers of the cluster and nowhere else.
    CHECK(CountOf(code, "UCGABAR_ARV") == 2);
    CHECK(CountOf(code, "MEMBAR.ALL.GPU") == 2);
    CHECK(CountOf(code, "CCTL.IVALL") == 2);
    CHECK(CountOf(code, " LDL") + CountOf(code, " STL") == 0);
  }
}

TEST_CASE("kernels of dots within bounds spill no registers", "[kernels][dot_fast][nvcc][toolkit]") {
  const std::string nvcc = FindTool("nvcc");
  if (nvcc.empty()) {
    WARN("skipped: there is no nvcc in PATH, CUDA_HOME or /usr/local/cuda");
    return;
  }
  Compiled compiled;
  for (const std::string architecture : {"80", "90a"}) {
    const std::string output = compiled.Compile(nvcc, "fast/dot_fast.cu", architecture);
    CHECK(CountOf(output, "Compiling entry function") == 6);
  }
}

}  // namespace assay::gpu
