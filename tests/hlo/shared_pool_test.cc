// Parts that are allocated together live as long as any of those who use them.
#include "hlo/shared_pool.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

namespace assay {
namespace {

struct Counted {
  explicit Counted(int* alive) : alive_(alive) { ++*alive_; }
  Counted(Counted&& other) noexcept : alive_(other.alive_) { ++*alive_; }
  ~Counted() { --*alive_; }
  int* alive_;
};

TEST_CASE("objects of a pool stay where they are, and live while one of their chunk does", "[hlo]") {
  int alive = 0;
  std::vector<std::shared_ptr<Counted>> objects;
  std::vector<const Counted*> places;
  {
    SharedPool<Counted> pool;
    for (int i = 0; i < 1000; ++i) {
      objects.push_back(pool.New(&alive));
      places.push_back(objects.back().get());
    }
  }
  CHECK(alive == 1000);
  for (size_t i = 0; i < objects.size(); ++i) CHECK(objects[i].get() == places[i]);
  const std::shared_ptr<Counted> last = objects.back();
  objects.clear();
  CHECK(alive > 0);     // those of the last chunk
  CHECK(alive <= 128);  // and only those
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
