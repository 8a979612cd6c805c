// Storage of values: see literal.h. How elements are stored is in element_io.cc.
#include "literal/literal.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>
#include <utility>

#include "base/counted.h"
#include "base/guard_pages.h"
#include "base/page_pool.h"
#include "fmt/format.h"
#include "literal/element_io.h"
#include "literal/float_format.h"
#include "shape/index.h"

namespace assay {
namespace {

// Gives allocate_shared one block for the object, its reference count and `room` bytes behind them, of which
// it tells the start in `*behind`.
template <typename T>
struct AllocatorWithRoom {
  using value_type = T;
  AllocatorWithRoom(size_t bytes, void** start) : room(bytes), behind(start) {}
  template <typename U>
  AllocatorWithRoom(const AllocatorWithRoom<U>& other) : room(other.room), behind(other.behind) {}
  T* allocate(size_t n) {
    void* const block = std::malloc(n * sizeof(T) + room);
    if (block == nullptr) throw std::bad_alloc();
    *behind = static_cast<std::byte*>(block) + n * sizeof(T);
    return static_cast<T*>(block);
  }
  void deallocate(T* block, size_t) { std::free(block); }

  size_t room;
  void** behind;
};

}  // namespace

// The bytes of one array. Scalars lie inside, small arrays behind it, so they are one allocation together
// with the reference count; larger ones are on the heap or mapped by themselves.
// All but scalars are 64-byte aligned.
struct Literal::Storage {
  static constexpr int64_t kInline = 48;
  static constexpr int64_t kBehind = 1 << 14;
  static constexpr size_t kAlignment = 64;

  // Null when there is no memory or, with `enforce`, when the budget is spent. A budget that can't take the
  // bytes of an unenforced allocation doesn't count them.
  static std::shared_ptr<Storage> Allocate(int64_t size, std::shared_ptr<MemoryBudget> budget, bool zero,
                                           bool enforce) {
    // Taken before the bytes are reserved, so that reserving them does not drop what they are to lie in.
    const ArrayGuard guard = GuardedArrays::Current();
    const bool has_pages = size >= kMappedBytes && guard == ArrayGuard::kNone;
    void* recycled = budget && has_pages ? budget->TakePages(size) : nullptr;
    if (budget && !budget->Reserve(size)) {
      if (recycled != nullptr) PagePool::OfProcess().Keep(std::exchange(recycled, nullptr), size);
      if (enforce) return nullptr;
      budget = nullptr;
    }
    if (guard != ArrayGuard::kNone) {
      auto guarded = std::make_shared<Storage>();
      guarded->size = size;
      guarded->budget = std::move(budget);
      guarded->guarded = std::make_unique<GuardedBlock>(guard, size, size <= kInline ? 16 : kAlignment);
      guarded->SetData(guarded->guarded->data());
      return guarded;
    }
    const bool is_behind = size > kInline && size <= kBehind;
    void* behind = nullptr;
    auto storage = is_behind ? std::allocate_shared<Storage>(AllocatorWithRoom<Storage>(
                                   static_cast<size_t>(size) + kAlignment, &behind))
                             : std::make_shared<Storage>();
    storage->size = size;
    storage->budget = std::move(budget);
    if (size <= kInline) {
      storage->SetData(storage->inline_bytes);
      if (zero) std::memset(storage->inline_bytes, 0, kInline);
      return storage;
    }
    if (is_behind) {
      storage->SetData(Aligned(behind));
      if (zero) std::memset(storage->host(), 0, static_cast<size_t>(size));
      return storage;
    }
    if (has_pages) {
      if (!storage->MapPages(recycled)) return nullptr;
      if (zero && recycled != nullptr) std::memset(storage->host(), 0, static_cast<size_t>(size));
      return storage;
    }
    const size_t padded = static_cast<size_t>(size) + kAlignment;
    storage->heap = zero ? std::calloc(padded, 1) : std::malloc(padded);
    if (storage->heap == nullptr) return nullptr;
    storage->SetData(Aligned(storage->heap));
    return storage;
  }

  static std::byte* Aligned(void* block) {
    const uintptr_t address = reinterpret_cast<uintptr_t>(block) + kAlignment - 1;
    return reinterpret_cast<std::byte*>(address & ~(uintptr_t{kAlignment} - 1));
  }

  void SetData(std::byte* bytes) { data.store(bytes, std::memory_order_relaxed); }

  bool MapPages(void* recycled) {
    // Arrays that are never live together displace each other's pages, unless there is room for both.
    const bool has_room = !HasHugePages(size) && PagePool::OfProcess().kept() <= kSmallPagesKept;
    if (recycled == nullptr && !has_room) PagePool::OfProcess().MakeRoom(size);
    mapping = recycled != nullptr ? recycled : MapArray(size);
    if (mapping == nullptr) return false;
    SetData(ArrayIn(mapping, size));
    return true;
  }

  Storage() {
  }  // a defaulted one would clear inline_bytes for make_shared, half of the time of a small literal
  Storage(const Storage&) = delete;
  Storage& operator=(const Storage&) = delete;
  ~Storage() {
    delete device.load(std::memory_order_acquire);
    std::free(heap);
    if (mapping != nullptr && budget) {
      budget->KeepPages(mapping, size);
    } else if (mapping != nullptr) {
      UnmapArray(mapping, size);
    }
    if (budget) budget->Release(size);
  }

  // What was made without bytes here gets them by the first who asks.
  std::byte* host() {
    std::byte* const bytes = data.load(std::memory_order_acquire);
    return bytes != nullptr ? bytes : FetchOrZero();
  }
  bool IsOnDeviceAlone() const { return data.load(std::memory_order_acquire) == nullptr; }
  [[gnu::cold]] absl::Status Fetch();
  [[gnu::cold]] std::byte* FetchOrZero();

  // A copy on a device, and what was fetched of it where it came first.
  struct DeviceSide {
    std::mutex mutex;
    std::shared_ptr<DeviceArray> array;
    std::shared_ptr<Storage> fetched;  // counted by the budget of the storage that it is for
  };
  DeviceSide& device_side() {
    if (DeviceSide* side = device.load(std::memory_order_acquire)) return *side;
    auto made = std::make_unique<DeviceSide>();
    DeviceSide* before = nullptr;
    if (device.compare_exchange_strong(before, made.get())) return *made.release();
    return *before;
  }

  std::atomic<std::byte*> data{nullptr};
  int64_t size = 0;
  void* heap = nullptr;
  void* mapping = nullptr;
  std::shared_ptr<MemoryBudget> budget;
  std::unique_ptr<GuardedBlock> guarded;  // in tests
  std::shared_ptr<const void> lender;     // of borrowed memory; data is then not written
  std::atomic<DeviceSide*> device{nullptr};
  alignas(16) std::byte inline_bytes[kInline];  // not touched where the bytes lie elsewhere
};

namespace {

absl::Status NoMemory(const Shape& array, const MemoryBudget* budget) {
  const std::string what = fmt::format("one more {}", array.ToString());
  if (budget != nullptr) return budget->Refusal(what, array.TotalBytes());
  return OutOfMemory(fmt::format("{} of {}", what, Counted(array.TotalBytes(), "byte")));
}

// The shape of element i, kept alive by the tuple's shape.
std::shared_ptr<const Shape> ElementShape(const std::shared_ptr<const Shape>& tuple, size_t i) {
  return std::shared_ptr<const Shape>(tuple, &tuple->elements()[i]);
}

}  // namespace

const std::shared_ptr<const Shape>& Literal::EmptyTupleShape() {
  static const auto* const kShape = new std::shared_ptr<const Shape>(std::make_shared<const Shape>());
  return *kShape;
}

absl::StatusOr<Literal> Literal::Make(std::shared_ptr<const Shape> shape,
                                      const std::shared_ptr<MemoryBudget>& budget, bool zero) {
  Literal literal;
  literal.shape_ = std::move(shape);
  const Shape& s = *literal.shape_;
  if (s.IsTuple()) {
    if (s.elements().empty()) return literal;
    literal.elements_ = std::make_shared<std::vector<Literal>>();
    literal.elements_->reserve(s.elements().size());
    for (size_t i = 0; i < s.elements().size(); ++i) {
      ASSAY_ASSIGN_OR_RETURN(Literal element, Make(ElementShape(literal.shape_, i), budget, zero));
      literal.elements_->push_back(std::move(element));
    }
    return literal;
  }
  if (s.IsArray() || s.IsBuffer()) {
    const Shape& array = s.IsArray() ? s : s.element(0);
    if (array.HasUnbounded()) return NotSupported({}, "DYN-2: unbounded dynamism");
    // Small constants and inputs are no larger than the text or file that they come from.
    constexpr int64_t kCountedInScope = 1 << 12;
    const bool by_scope = budget == nullptr && array.num_bytes() >= kCountedInScope;
    const std::shared_ptr<MemoryBudget>& counts = by_scope ? BudgetScope::Current() : budget;
    literal.data_ = Storage::Allocate(array.num_bytes(), counts, zero, true);
    if (literal.data_ == nullptr) return NoMemory(array, counts.get());
  }
  return literal;
}

absl::StatusOr<Literal> Literal::Make(const Shape& shape) {
  return Make(std::make_shared<const Shape>(shape));
}

Literal Literal::Tuple(std::shared_ptr<const Shape> shape, std::vector<Literal> elements) {
  ASSAY_CHECK(shape->IsTuple() && shape->elements().size() == elements.size());
  Literal literal;
  literal.shape_ = std::move(shape);
  if (!elements.empty()) literal.elements_ = std::make_shared<std::vector<Literal>>(std::move(elements));
  return literal;
}

Literal Literal::Tuple(std::vector<Literal> elements) {
  std::vector<Shape> shapes;
  shapes.reserve(elements.size());
  for (const Literal& element : elements) shapes.push_back(element.shape());
  return Tuple(std::make_shared<const Shape>(Shape::Tuple(std::move(shapes))), std::move(elements));
}

Literal Literal::Token() {
  static const auto* const kShape =
      new std::shared_ptr<const Shape>(std::make_shared<const Shape>(Shape::Token()));
  Literal literal;
  literal.shape_ = *kShape;
  return literal;
}

Literal Literal::Borrow(std::shared_ptr<const Shape> shape, std::span<const std::byte> bytes,
                        std::shared_ptr<const void> owner) {
  ASSAY_CHECK(shape->IsArray() && static_cast<int64_t>(bytes.size()) == shape->num_bytes() &&
              owner != nullptr);
  Literal literal;
  literal.data_ = std::make_shared<Storage>();
  literal.data_->SetData(const_cast<std::byte*>(bytes.data()));
  literal.data_->size = static_cast<int64_t>(bytes.size());
  literal.data_->lender = std::move(owner);
  literal.shape_ = std::move(shape);
  literal.elements_ = nullptr;
  return literal;
}

// On a device.

absl::Status Literal::Storage::Fetch() {
  DeviceSide& side = device_side();
  const std::lock_guard lock(side.mutex);
  if (!IsOnDeviceAlone()) return absl::OkStatus();
  const std::shared_ptr<Storage> copy = Allocate(size, nullptr, false, false);
  if (copy == nullptr) return OutOfMemory(fmt::format("{} that lie on a device", Counted(size, "byte")));
  ASSAY_RETURN_IF_ERROR(side.array->CopyOut({copy->host(), static_cast<size_t>(size)}));
  side.fetched = copy;
  data.store(copy->host(), std::memory_order_release);
  return absl::OkStatus();
}

std::byte* Literal::Storage::FetchOrZero() {
  const absl::Status status = Fetch();
  if (status.ok()) return data.load(std::memory_order_acquire);
  DeviceSide& side = device_side();
  const std::lock_guard lock(side.mutex);
  if (!IsOnDeviceAlone()) return data.load(std::memory_order_acquire);  // another thread was luckier
  side.array->Lost(status);
  side.fetched = Allocate(size, nullptr, true, false);
  ASSAY_CHECK(side.fetched != nullptr);
  data.store(side.fetched->host(), std::memory_order_release);
  return side.fetched->host();
}

absl::StatusOr<Literal> Literal::OnDevice(std::shared_ptr<const Shape> shape,
                                          std::shared_ptr<DeviceArray> array,
                                          const std::shared_ptr<MemoryBudget>& budget) {
  ASSAY_CHECK(shape->IsArray() && array != nullptr);
  Literal literal;
  literal.data_ = std::make_shared<Storage>();
  const int64_t size = shape->num_bytes();
  if (budget != nullptr && !budget->Reserve(size)) return NoMemory(*shape, budget.get());
  literal.data_->budget = budget;
  literal.data_->size = size;
  literal.data_->device_side().array = std::move(array);
  literal.shape_ = std::move(shape);
  return literal;
}

absl::Status Literal::Fetch() const {
  if (data_ != nullptr && data_->IsOnDeviceAlone()) return data_->Fetch();
  for (int64_t i = 0; i < tuple_size(); ++i) ASSAY_RETURN_IF_ERROR(element(i).Fetch());
  return absl::OkStatus();
}

std::shared_ptr<DeviceArray> Literal::device_array() const {
  if (data_ == nullptr) return nullptr;
  Storage::DeviceSide* const side = data_->device.load(std::memory_order_acquire);
  if (side == nullptr) return nullptr;
  const std::lock_guard lock(side->mutex);
  return side->array;
}

void Literal::KeepOnDevice(std::shared_ptr<DeviceArray> array) const {
  ASSAY_CHECK(shape().IsArray() && !IsOnDeviceAlone());
  Storage::DeviceSide& side = data_->device_side();
  const std::lock_guard lock(side.mutex);
  side.array = std::move(array);
}

bool Literal::IsOnDeviceAlone() const { return data_ != nullptr && data_->IsOnDeviceAlone(); }

bool Literal::IsUnique() const { return data_.use_count() == 1 && data_->lender == nullptr; }

std::span<const std::byte> Literal::bytes() const {
  if (data_ == nullptr) return {};
  return {data_->host(), static_cast<size_t>(data_->size)};
}

absl::Status Literal::Unshare() {
  ASSAY_RETURN_IF_ERROR(Fetch());
  if (data_ == nullptr || IsUnique()) return absl::OkStatus();
  auto copy = Storage::Allocate(data_->size, data_->budget, false, true);
  if (copy == nullptr) return NoMemory(shape(), data_->budget.get());
  std::memcpy(copy->host(), data_->host(), static_cast<size_t>(data_->size));
  data_ = std::move(copy);
  return absl::OkStatus();
}

std::span<std::byte> Literal::MutableBytes() {
  if (data_ == nullptr) return {};
  if (!IsUnique()) {
    auto copy = Storage::Allocate(data_->size, data_->budget, false, false);
    ASSAY_CHECK(copy != nullptr);  // where that can happen, the caller calls Unshare first
    std::memcpy(copy->host(), data_->host(), static_cast<size_t>(data_->size));
    data_ = std::move(copy);
  }
  // What another thread read before it dropped its share must be read before we write.
  std::atomic_thread_fence(std::memory_order_acquire);
  std::byte* const bytes = data_->host();
  if (Storage::DeviceSide* side = data_->device.load(std::memory_order_acquire)) side->array = nullptr;
  return {bytes, static_cast<size_t>(data_->size)};
}

Literal Literal::WithShape(std::shared_ptr<const Shape> shape) const {
  ASSAY_CHECK(shape_->IsArray() && shape->IsArray() && shape->num_bytes() == shape_->num_bytes());
  Literal literal;
  literal.shape_ = std::move(shape);
  literal.data_ = data_;
  return literal;
}

int64_t Literal::dynamic_size(int64_t d) const {
  return dynamic_sizes_.empty() ? shape().size(d) : dynamic_sizes_[d];
}

void Literal::set_dynamic_size(int64_t d, int64_t size) {
  ASSAY_CHECK(d >= 0 && d < shape().rank() && shape().is_dynamic(d));
  ASSAY_CHECK(size >= 0 && size <= shape().size(d));
  open_ &= ~(uint64_t{1} << d);
  if (dynamic_sizes_.empty()) {
    if (size == shape().size(d)) return;
    dynamic_sizes_.assign(shape().sizes().begin(), shape().sizes().end());
  }
  dynamic_sizes_[d] = size;
}

void Literal::set_open(int64_t d) {
  set_dynamic_size(d, shape().size(d));
  open_ |= uint64_t{1} << d;
}

bool Literal::HasOpen() const {
  if (shape().IsArray()) return open_ != 0;
  for (int64_t i = 0; i < tuple_size(); ++i) {
    if (element(i).HasOpen()) return true;
  }
  return false;
}

bool Literal::IsFullSize() const {
  return dynamic_sizes_.empty() ||
         std::equal(dynamic_sizes_.begin(), dynamic_sizes_.end(), shape().sizes().begin());
}

DimVector Literal::runtime_sizes() const {
  if (!dynamic_sizes_.empty()) return DimVector(dynamic_sizes_.begin(), dynamic_sizes_.end());
  return DimVector(shape().sizes().begin(), shape().sizes().end());
}

void Literal::ClearDeadElements() {
  if (IsFullSize()) return;
  std::byte* data = MutableBytes().data();
  const std::span<const int64_t> bounds = shape().sizes();
  if (shape().num_elements() == 0) return;
  const DimVector strides = RowMajorStrides(bounds);
  const int64_t width = Bytes(shape().element_type());
  // Elements whose first dead coordinate is d are, for each live prefix, one block of memory.
  DimVector prefix(bounds.size(), 0);
  for (int64_t d = 0; d < shape().rank(); ++d) {
    const int64_t live = dynamic_sizes_[d];
    const std::span<int64_t> index(prefix.data(), static_cast<size_t>(d));
    const std::span<const int64_t> live_sizes(dynamic_sizes_.data(), static_cast<size_t>(d));
    if (std::find(live_sizes.begin(), live_sizes.end(), 0) != live_sizes.end()) return;
    if (live == bounds[d]) continue;
    do {
      const int64_t first = LinearPosition(index, strides) + live * strides[d];
      std::memset(data + first * width, 0, (bounds[d] - live) * strides[d] * width);
    } while (NextIndex(live_sizes, index));
  }
}

std::vector<Literal> Literal::TakeElements() && {
  std::vector<Literal> taken;
  if (elements_ != nullptr) {
    if (elements_.use_count() == 1) {
      std::atomic_thread_fence(std::memory_order_acquire);
      taken = std::move(*elements_);
    } else {
      taken = *elements_;
    }
  }
  *this = Literal();
  return taken;
}

bool Literal::BitwiseEqual(const Literal& a, const Literal& b) {
  if (!Shape::Compatible(a.shape(), b.shape())) return false;
  if (a.tuple_size() != b.tuple_size()) return false;
  for (int64_t i = 0; i < a.tuple_size(); ++i) {
    if (!BitwiseEqual(a.element(i), b.element(i))) return false;
  }
  if (a.shape().IsArray() && a.runtime_sizes() != b.runtime_sizes()) return false;
  const std::span<const std::byte> x = a.bytes(), y = b.bytes();
  return x.size() == y.size() && (x.data() == y.data() || std::memcmp(x.data(), y.data(), x.size()) == 0);
}

// Element access.

int64_t Literal::GetInt(int64_t position) const {
  const ElementType type = shape().element_type();
  const ScalarValue value = LoadElement(type, data() + position * Bytes(type));
  switch (value.kind) {
    case ComputeKind::kBool:
      return value.b;
    case ComputeKind::kInt64:
      return value.i;
    case ComputeKind::kUint64:
      return static_cast<int64_t>(value.u);
    default:
      ASSAY_CHECK(false && "GetInt of a floating or complex array");
  }
}

double Literal::GetDouble(int64_t position) const {
  const ElementType type = shape().element_type();
  ASSAY_CHECK(IsFloat(type));
  return LoadElement(type, data() + position * Bytes(type)).r;
}

namespace {

ScalarValue ValueOf(ElementType type, int64_t integer, double real) {
  ScalarValue value;
  value.kind = KindOf(type);
  value.b = integer != 0;
  value.i = integer;
  value.u = static_cast<uint64_t>(integer);
  if (const FloatFormat* format = Info(type).format) value.r = RoundToFormat(real, *format);
  value.c = value.r;
  return value;
}

int64_t SaturatingInt(double value) {
  if (!(value == value)) return 0;
  if (value >= 0x1p63) return std::numeric_limits<int64_t>::max();
  if (value < -0x1p63) return std::numeric_limits<int64_t>::min();
  return static_cast<int64_t>(value);
}

Literal Filled(ElementType type, std::span<const int64_t> sizes, size_t count,
               absl::FunctionRef<ScalarValue(size_t)> value) {
  const Shape shape = Shape::ArrayOrDie(type, sizes);
  ASSAY_CHECK(static_cast<size_t>(shape.num_elements()) == count);
  // Small, and wanted for messages too: no limit is asked.
  const BudgetScope uncounted(nullptr);
  absl::StatusOr<Literal> literal = Literal::Make(shape);
  ASSAY_CHECK(literal.ok());
  std::byte* out = literal->MutableBytes().data();
  for (size_t i = 0; i < count; ++i) StoreElement(type, value(i), out + i * Bytes(type));
  return *std::move(literal);
}

}  // namespace

Literal Literal::FromInts(ElementType type, std::span<const int64_t> sizes, std::span<const int64_t> values) {
  return Filled(type, sizes, values.size(),
                [&](size_t i) { return ValueOf(type, values[i], static_cast<double>(values[i])); });
}

Literal Literal::FromDoubles(ElementType type, std::span<const int64_t> sizes,
                             std::span<const double> values) {
  return Filled(type, sizes, values.size(),
                [&](size_t i) { return ValueOf(type, SaturatingInt(values[i]), values[i]); });
}

}  // namespace assay
