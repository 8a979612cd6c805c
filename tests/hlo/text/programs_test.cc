// Real programs, written by JAX and by XLA:CPU's own passes, must be read.
#include <catch2/catch.hpp>
#include <fstream>
#include <sstream>

#include "hlo/text/parser.h"

namespace assay {
namespace {

std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  REQUIRE(file.good());
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

constexpr const char* kPrograms[] = {
    "attention_bf16",    "beam_search_step", "branches",    "embedding_update", "fft_convolve",
    "fp8_quantised_dot", "gru_scan",         "int8_matmul", "mlp_train_step",   "newton_while",
    "random_draws",      "resnet_block",     "softmax",     "spd_solve",        "tiny_gpt_train_step"};

TEST_CASE("programs: every real program is read", "[parser]") {
  for (const char* name : kPrograms) {
    for (const char* form : {"program.hlo", "optimized.hlo"}) {
      const std::string path = std::string(ASSAY_SOURCE_DIR "/golden/programs/") + name + "/" + form;
      INFO(path);
      const absl::StatusOr<Module> module = ParseHloText(ReadFile(path));
      INFO(module.status().ToString());
      REQUIRE(module.ok());
      CHECK(module->name == std::string("jit_") + name);
      CHECK(module->entry_computation_layout.has_value());
      CHECK(module->entry_computation().parameters.size() ==
            module->entry_computation_layout->parameters.size());
      CHECK(Shape::Compatible(*module->entry_computation().root_instruction().shape,
                              module->entry_computation_layout->result));
    }
  }
}

}  // namespace
}  // namespace assay
