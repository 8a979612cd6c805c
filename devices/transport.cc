#include "devices/transport.h"

#include <dlfcn.h>

#include <atomic>
#include <charconv>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <filesystem>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

#include "devices/mpi/assay_mpi.h"
#include "fmt/format.h"

namespace assay {
namespace {

constexpr char kLibrary[] = "libassay_mpi.so";
constexpr std::chrono::microseconds kBetweenProbes(50);

// A number that Open MPI's mpirun gives its processes.
int FromMpirun(const char* name) {
  const char* const text = std::getenv(name);
  int value = 0;
  if (text != nullptr) std::from_chars(text, text + std::strlen(text), value);
  return value;
}

// Beside the program, in the lib folder beside its folder, or wherever the linker looks.
void* OpenLibrary() {
  std::error_code error;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
  for (const std::filesystem::path& folder :
       {program.parent_path(), program.parent_path().parent_path() / "lib", std::filesystem::path()}) {
    if (void* const library = dlopen((folder / kLibrary).c_str(), RTLD_NOW | RTLD_GLOBAL); library != nullptr)
      return library;
  }
  return nullptr;
}

// The only thread that calls the library.
class MpiTransport final : public Transport {
 public:
  static absl::StatusOr<std::unique_ptr<MpiTransport>> Open() {
    void* const library = OpenLibrary();
    if (library == nullptr)
      return NotSupported({}, fmt::format("run by mpirun, but {} can't be opened: {}", kLibrary, dlerror()));
    auto transport = std::unique_ptr<MpiTransport>(new MpiTransport());
    const auto find = [&](const char* name, auto& function) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
    };
    find("assay_mpi_open", transport->open_);
    find("assay_mpi_send", transport->send_);
    find("assay_mpi_probe", transport->probe_);
    find("assay_mpi_receive", transport->receive_);
    find("assay_mpi_close", transport->close_);
    transport->thread_ = std::thread([&t = *transport] { t.Work(); });
    std::unique_lock<std::mutex> lock(transport->mutex_);
    transport->changed_.wait(lock, [&] { return transport->size_ != 0; });
    if (transport->size_ > 0) return transport;
    lock.unlock();
    transport->thread_.join();
    return NotSupported({}, "MPI can't be opened");
  }

  ~MpiTransport() override {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      closing_ = true;
    }
    if (thread_.joinable()) thread_.join();
  }

  void BeginRun() override { in_run_ = true; }
  void EndRun() override { in_run_ = false; }

  int rank() const override { return rank_; }
  int size() const override { return size_; }

  void Send(int to, std::string bytes) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    outgoing_.emplace_back(to, std::move(bytes));
  }

  void Listen(std::function<bool(int from, std::string bytes)> listener) override {
    const std::lock_guard<std::mutex> lock(listening_);
    listener_ = std::move(listener);
  }

 private:
  void Work() {
    int rank = 0, size = 0;
    const bool opened = open_(&rank, &size) == 0;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      rank_ = rank;
      size_ = opened ? size : -1;
      changed_.notify_all();
    }
    if (!opened) return;
    while (true) {
      std::deque<std::pair<int, std::string>> outgoing;
      bool closing = false;
      {
        const std::lock_guard<std::mutex> lock(mutex_);
        outgoing.swap(outgoing_);
        closing = closing_;
      }
      for (const auto& [to, bytes] : outgoing) send_(to, bytes.data(), static_cast<int64_t>(bytes.size()));
      const bool received = ReceiveOne();
      if (closing && in_run_) return;
      if (closing && outgoing.empty()) break;
      if (!received && outgoing.empty()) std::this_thread::sleep_for(kBetweenProbes);
    }
    close_();
  }

  bool ReceiveOne() {
    const std::lock_guard<std::mutex> lock(listening_);
    if (!listener_) return false;
    int from = 0;
    const int64_t size = probe_(&from);
    if (size < 0) return false;
    std::string bytes(static_cast<size_t>(size), '\0');
    receive_(from, bytes.data(), size);
    if (!listener_(from, std::move(bytes))) listener_ = nullptr;
    return true;
  }

  decltype(&assay_mpi_open) open_ = nullptr;
  decltype(&assay_mpi_send) send_ = nullptr;
  decltype(&assay_mpi_probe) probe_ = nullptr;
  decltype(&assay_mpi_receive) receive_ = nullptr;
  decltype(&assay_mpi_close) close_ = nullptr;
  std::mutex mutex_;  // of what follows
  std::condition_variable changed_;
  int rank_ = 0, size_ = 0;
  bool closing_ = false;
  std::atomic<bool> in_run_ = false;
  std::deque<std::pair<int, std::string>> outgoing_;
  std::mutex listening_;
  std::function<bool(int, std::string)> listener_;
  std::thread thread_;
};

std::unique_ptr<MpiTransport>& Opened() {
  static std::unique_ptr<MpiTransport> transport;
  return transport;
}

}  // namespace

int ProcessRank() { return FromMpirun("OMPI_COMM_WORLD_RANK"); }

absl::StatusOr<Transport*> TransportOfProcess() {
  if (FromMpirun("OMPI_COMM_WORLD_SIZE") < 2) return nullptr;
  static std::mutex opening;
  const std::lock_guard<std::mutex> lock(opening);
  if (Opened() == nullptr) {
    ASSAY_ASSIGN_OR_RETURN(Opened(), MpiTransport::Open());
  }
  return Opened().get();
}

void CloseTransport() { Opened().reset(); }

}  // namespace assay
