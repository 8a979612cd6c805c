// Parts that are allocated together live as long as any of those who use them.
#include "hlo/shared_pool.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

namespace assay {
namespace {

struct Counts {
  int alive = 0, moved = 0;
};

struct Counted {
  explicit Counted(Counts* counts) : counts_(counts) { ++counts_->alive; }
  Counted(Counted&& other) noexcept : counts_(other.counts_) {
    ++counts_->alive;
    ++counts_->moved;
  }
  ~Counted() { --counts_->alive; }
  Counts* counts_;
};

TEST_CASE("objects of a pool stay where they are, and live while one of their chunk does", "[hlo]") {
  Counts counts;
  std::vector<std::shared_ptr<Counted>> objects;
  {
    SharedPool<Counted> pool;
    for (int i = 0; i < 1000; ++i) objects.push_back(pool.New(&counts));
  }
  CHECK(counts.alive == 1000);
  CHECK(counts.moved == 0);
  const std::shared_ptr<Counted> last = objects.back();
  objects.clear();
  CHECK(counts.alive > 0);     // those of the last chunk
  CHECK(counts.alive <= 128);  // and only those
}

TEST_CASE("texts of a pool outlive it, whatever their sizes", "[hlo]") {
  std::vector<SharedText> texts;
  std::vector<std::string> wanted;
  {
    TextPool pool;
    for (size_t i = 0; i < 300; ++i) {
      // Short ones, some as long as a chunk, and some with memory of their own.
      const std::string text(i % 7 == 0 ? 131 * i : i % 40, static_cast<char>('a' + i % 26));
      texts.push_back(pool.Add(text));
      wanted.push_back(text);
    }
  }
  for (size_t i = 0; i < texts.size(); ++i) CHECK(texts[i].view() == wanted[i]);
}

TEST_CASE("a shared text is its characters", "[hlo]") {
  CHECK(SharedText().empty());
  CHECK(SharedText("") == SharedText());
  CHECK(SharedText("jit(f)") == "jit(f)");
  CHECK_FALSE(SharedText("a") == SharedText("b"));
  SharedText copy;
  {
    const SharedText text(std::string(100, 'x'));
    copy = text;
    CHECK(copy.view().data() == text.view().data());
  }
  CHECK(copy.view() == std::string(100, 'x'));
}

}  // namespace
}  // namespace assay
