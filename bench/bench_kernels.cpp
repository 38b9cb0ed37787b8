// Speed of the CPU kernels beside the machine's ceilings, measured in the same process.
//
//   cmake --preset release -DONCEOVER_BENCH=ON && cmake --build --preset release --target bench_kernels
//   OMP_WAIT_POLICY=passive build/release/bench_kernels [--benchmark_filter=attend]
//
// The last argument of each benchmark is the thread count. "peak" is the share of the FMA peak (useful
// operations only: a masked score does not count; the backward pass of attention counts 5 products, its
// recomputation of scores included); "memory" the share of the read bandwidth, by the bytes that must move at
// least once. Both are per second of processor time (cpu/ceilings.h), each ceiling taken anew, best of three,
// before the benchmark that it is compared with; "Time" is wall.
#include <benchmark/benchmark.h>
#include <omp.h>

#include <cmath>
#include <memory>
#include <vector>

#include "cpu/ceilings.h"
#include "cpu/kernels/adamw.h"
#include "cpu/kernels/attention.h"
#include "cpu/kernels/cross_entropy.h"
#include "cpu/kernels/elementwise.h"
#include "cpu/kernels/linear.h"
#include "cpu/kernels/norm.h"
#include "cpu/kernels/packed_linear.h"
#include "cpu/kernels/paged_attention.h"
#include "cpu/kernels/retention.h"
#include "cpu/kernels/rope.h"
#include "cpu/sequence_state.h"

namespace onceover::bench {
namespace {

using benchmark::State;
using kernels::Input;
using kernels::Output;

struct Matrix {
  int64_t stride;
  std::vector<float> data;

  Matrix(int64_t rows, int64_t columns) : stride(columns), data(static_cast<size_t>(rows * columns)) {
    uint32_t x = 12345;
    for (float& y : data) {
      x = x * 1664525 + 1013904223;
      y = static_cast<float>(x >> 8) / 8388608.0F - 1;
    }
  }
  operator Output() { return {data.data(), stride}; }
  operator Input() const { return {data.data(), stride}; }
};

// Runs `work` as long as the library asks, once before to warm up.
template <class F>
double runs_per_second(State& state, F work) {
  work();
  const double start = cpu::processor_seconds();
  for (auto _ : state) work();
  return static_cast<double>(state.iterations()) / (cpu::processor_seconds() - start);
}

// Reports the share of the FMA peak. `operations` is the FLOPs of one run.
template <class F>
void measure_flops(State& state, int threads, double operations, F work) {
  omp_set_num_threads(threads);
  const double peak = cpu::fma_peak(threads), rate = operations * runs_per_second(state, work);
  state.counters["GFLOP/cpu-s"] = rate / 1e9;
  state.counters["peak"] = rate / peak;
}

template <class F>
void measure_bytes(State& state, int threads, double bytes, F work) {
  omp_set_num_threads(threads);
  const double bandwidth = cpu::read_bandwidth(threads), rate = bytes * runs_per_second(state, work);
  state.counters["GB/cpu-s"] = rate / 1e9;
  state.counters["memory"] = rate / bandwidth;
}

// Arguments: rows, inputs, outputs, threads.
enum class Pass { Forward, BackwardInput, BackwardWeight };

template <Pass pass>
void linear(State& state) {
  const kernels::LinearShape shape{state.range(0), state.range(1), state.range(2)};
  Matrix x(shape.rows, shape.inputs), weight(shape.outputs, shape.inputs), y(shape.rows, shape.outputs);
  const double operations = 2.0 * static_cast<double>(shape.rows * shape.inputs * shape.outputs);
  measure_flops(state, static_cast<int>(state.range(3)), operations, [&] {
    if constexpr (pass == Pass::Forward) kernels::linear_forward(shape, x, weight, y);
    if constexpr (pass == Pass::BackwardInput) kernels::linear_backward_input(shape, y, weight, x);
    if constexpr (pass == Pass::BackwardWeight) kernels::linear_backward_weight(shape, y, x, weight);
  });
}

void linear_shapes(benchmark::internal::Benchmark* b) {
  b->ArgNames({"rows", "in", "out", "threads"});
  for (const int64_t threads : {1, 2}) {
    b->Args({2048, 384, 1024, threads})->Args({2048, 1024, 384, threads})->Args({4096, 768, 2048, threads});
  }
}
BENCHMARK(linear<Pass::Forward>)->Apply(linear_shapes)->UseRealTime();
BENCHMARK(linear<Pass::BackwardInput>)->Apply(linear_shapes)->UseRealTime();
BENCHMARK(linear<Pass::BackwardWeight>)->Apply(linear_shapes)->UseRealTime();

// One to eight rows read the weight once: the share of bandwidth. Arguments: rows, threads.
void linear_few(State& state) {
  const kernels::LinearShape shape{state.range(0), 2048, 16384};
  Matrix x(shape.rows, shape.inputs), weight(shape.outputs, shape.inputs), y(shape.rows, shape.outputs);
  measure_bytes(state, static_cast<int>(state.range(1)),
                4.0 * static_cast<double>(shape.inputs * shape.outputs),
                [&] { kernels::linear_forward(shape, x, weight, y); });
}
BENCHMARK(linear_few)->ArgNames({"rows", "threads"})->ArgsProduct({{1, 4, 8}, {1, 2}})->UseRealTime();

// A packed matrix of random bytes, finite in every format.
struct Packed {
  kernels::PackedMatrix matrix;
  std::vector<std::byte> bytes;

  Packed(int64_t format, int64_t outputs, int64_t inputs)
      : matrix{static_cast<kernels::WeightFormat>(format), outputs, inputs, nullptr},
        bytes(static_cast<size_t>(matrix.bytes() + 64)) {
    const auto start = reinterpret_cast<uintptr_t>(bytes.data());
    std::byte* data = bytes.data() + (64 - start % 64) % 64;
    uint32_t x = 1;
    for (int64_t i = 0; i < matrix.bytes(); ++i) data[i] = std::byte((x = x * 1664525 + 1013904223) >> 25);
    for (int64_t i = 1; i < matrix.bytes(); i += 2) data[i] = data[i] & std::byte(0x3B);
    matrix.data = data;
  }
};

// Arguments: format, rows, inputs, outputs, threads. Bytes are those of the weights.
void packed_few(State& state) {
  const int64_t rows = state.range(1), inputs = state.range(2), outputs = state.range(3);
  Packed w(state.range(0), outputs, inputs);
  Matrix x(rows, inputs), y(rows, outputs);
  measure_bytes(state, static_cast<int>(state.range(4)), static_cast<double>(w.matrix.bytes()),
                [&] { kernels::packed_linear(rows, x, w.matrix, y); });
}
BENCHMARK(packed_few)
    ->ArgNames({"format", "rows", "in", "out", "threads"})
    ->ArgsProduct({{0, 1, 2, 3, 4}, {1}, {2560}, {65536}, {1, 2}})
    ->ArgsProduct({{3, 4}, {1}, {768}, {2048}, {1, 2}})
    ->ArgsProduct({{2, 3, 4}, {4}, {2560}, {65536}, {2}})
    ->UseRealTime();

void packed_many(State& state) {
  const int64_t rows = state.range(1), inputs = state.range(2), outputs = state.range(3);
  Packed w(state.range(0), outputs, inputs);
  Matrix x(rows, inputs), y(rows, outputs);
  measure_flops(state, static_cast<int>(state.range(4)),
                2.0 * static_cast<double>(rows * inputs) * static_cast<double>(outputs),
                [&] { kernels::packed_linear(rows, x, w.matrix, y); });
}
BENCHMARK(packed_many)
    ->ArgNames({"format", "rows", "in", "out", "threads"})
    ->ArgsProduct({{0, 1, 2, 3, 4}, {512}, {2560}, {2560}, {1, 2}})
    ->ArgsProduct({{0, 2, 3, 4}, {512}, {768}, {2048}, {2}})
    ->UseRealTime();

struct Attention {
  kernels::AttendShape shape;
  Matrix q, k, v, y, dq, dk, dv;
  std::vector<float> log_sum_exp;

  Attention(int64_t rows, int64_t window, int64_t sequences, int64_t heads)
      : shape{.sequences = sequences,
              .q_rows = rows,
              .k_rows = rows,
              .heads = heads,
              .kv_heads = heads,
              .head_dim = 64,
              .v_head_dim = 64,
              .window = window,
              .scale = 0.125F},
        q(sequences * rows, heads * 64),
        k(q),
        v(q),
        y(q),
        dq(q),
        dk(q),
        dv(q),
        log_sum_exp(static_cast<size_t>(sequences * rows * heads)) {}

  // Multiply-adds of one product of scores, FLOPs.
  double product() const {
    double seen = 0;
    for (int64_t row = 0; row < shape.q_rows; ++row) {
      seen += static_cast<double>(shape.end_visible(row) - shape.first_visible(0, row));
    }
    return 2.0 * 64 * seen * static_cast<double>(shape.sequences * shape.heads);
  }
  void forward() { attend_forward(shape, q, k, v, y, log_sum_exp.data()); }
};

// Arguments: rows of a sequence, window, sequences, heads, threads.
void attend_forward(State& state) {
  Attention a(state.range(0), state.range(1), state.range(2), state.range(3));
  measure_flops(state, static_cast<int>(state.range(4)), 2 * a.product(), [&] { a.forward(); });
}

void attend_backward(State& state) {
  Attention a(state.range(0), state.range(1), state.range(2), state.range(3));
  a.forward();
  measure_flops(state, static_cast<int>(state.range(4)), 5 * a.product(), [&] {
    kernels::attend_backward(a.shape, a.q, a.k, a.v, a.y, a.log_sum_exp.data(), a.y, a.dq, a.dk, a.dv);
  });
}

void attention_shapes(benchmark::internal::Benchmark* b) {
  b->ArgNames({"rows", "window", "sequences", "heads", "threads"});
  for (const int64_t threads : {1, 2}) {
    b->Args({512, 0, 4, 6, threads})->Args({1024, 0, 4, 12, threads})->Args({2048, 0, 1, 6, threads});
    for (int64_t rows = 512; rows <= 8192; rows *= 2) b->Args({rows, 256, 1, 6, threads});
  }
  b->Args({4096, 0, 1, 6, 2})->Args({8192, 0, 1, 6, 2});
}
BENCHMARK(attend_forward)->Apply(attention_shapes)->UseRealTime();
BENCHMARK(attend_backward)->Apply(attention_shapes)->UseRealTime();

// Keys and values of some layers, `past` rows each, in pages.
struct Paged {
  kernels::AttendShape shape;
  KvType type;
  cpu::PagePools pools;
  std::vector<cpu::PagedRows> rows;  // keys, then values of each layer
  Matrix q, y;

  Paged(int layers, int64_t fresh, int64_t past, int64_t heads, int64_t kv_heads, int64_t head_dim, KvType kv)
      : shape{.q_rows = fresh,
              .k_rows = past,
              .q_offset = past - fresh,
              .heads = heads,
              .kv_heads = kv_heads,
              .head_dim = head_dim,
              .v_head_dim = head_dim,
              .scale = 0.125F},
        type(kv),
        q(fresh, heads * head_dim),
        y(q) {
    const int64_t width = kv_heads * head_dim;
    const Matrix some(64, width);
    for (int i = 0; i < 2 * layers; ++i) {
      const kernels::PageLayout layout{width, head_dim, kv, i % 2 == 0};
      rows.emplace_back(pools.of(layout.page_bytes()), layout, 0, 0);
      for (int64_t row = 0; row < past; row += 64) rows.back().append(some, 64);
    }
  }

  double bytes() const { return static_cast<double>(rows[0].bytes() + rows[1].bytes()); }
  // The next layer, in turn.
  void attend() {
    next = (next + 2) % rows.size();
    const kernels::PagedCall call{shape, q, rows[next].view(), rows[next + 1].view(), y};
    kernels::attend_paged({&call, 1});
  }
  size_t next = 0;
};

// Decoding at a depth, from memory. Arguments: past rows, query heads, key heads, head_dim, type (0 f32, 1
// f16, 2 q8), threads.
void attend_paged_decode(State& state) {
  const int64_t width = state.range(2) * state.range(3);
  const int layers = state.range(0) < 5000
                         ? 1
                         : static_cast<int>(std::max<int64_t>(1, (160 << 20) / (state.range(0) * width * 4)));
  Paged p(layers, 1, state.range(0), state.range(1), state.range(2), state.range(3),
          static_cast<KvType>(state.range(4)));
  measure_bytes(state, static_cast<int>(state.range(5)), p.bytes(), [&] { p.attend(); });
}
BENCHMARK(attend_paged_decode)
    ->ArgNames({"past", "heads", "kv_heads", "dim", "type", "threads"})
    ->ArgsProduct({{16384}, {12}, {12}, {64}, {0, 1, 2}, {1, 2}})
    ->ArgsProduct({{16384}, {20}, {4}, {128}, {0, 1, 2}, {1, 2}})
    ->ArgsProduct({{1024}, {12}, {12}, {64}, {1}, {2}})
    ->ArgsProduct({{128, 1024, 4096}, {20}, {4}, {128}, {1}, {1}})
    ->UseRealTime();

// A chunk of a prompt. Arguments: fresh rows, past and fresh rows, query heads, key heads, type, threads.
void attend_paged_prompt(State& state) {
  Paged p(1, state.range(0), state.range(1), state.range(2), state.range(3), 64,
          static_cast<KvType>(state.range(4)));
  double seen = 0;
  for (int64_t row = 0; row < p.shape.q_rows; ++row) seen += static_cast<double>(p.shape.end_visible(row));
  measure_flops(state, static_cast<int>(state.range(5)), 4 * 64 * seen * static_cast<double>(p.shape.heads),
                [&] { p.attend(); });
}
BENCHMARK(attend_paged_prompt)
    ->ArgNames({"fresh", "rows", "heads", "kv_heads", "type", "threads"})
    ->ArgsProduct({{256, 512}, {512, 8192}, {12}, {12}, {0, 1}, {2}})
    ->UseRealTime();

struct Retention {
  kernels::RetainShape shape;
  Matrix q, k, v, decay, y, dq, dk, dv, ddecay;

  explicit Retention(int64_t rows)
      : shape{.rows = rows, .heads = 6, .head_dim = 64, .v_head_dim = 64, .scale = 0.125F},
        q(rows, 384),
        k(q),
        v(q),
        decay(rows, 6),
        y(q),
        dq(q),
        dk(q),
        dv(q),
        ddecay(decay) {}

  // Per row: two products with the state, two with half a chunk of 64 rows.
  double operations() const {
    return static_cast<double>(shape.rows * shape.heads) * (4.0 * 64 * 64 + 2.0 * 64 * 64);
  }
};

// Arguments: rows, threads.
void retain_forward(State& state) {
  Retention r(state.range(0));
  measure_flops(state, static_cast<int>(state.range(1)), r.operations(),
                [&] { kernels::retain_forward(r.shape, r.q, r.k, r.v, r.decay, r.y, nullptr); });
}

void retain_backward(State& state) {
  Retention r(state.range(0));
  measure_flops(state, static_cast<int>(state.range(1)), 2.5 * r.operations(), [&] {
    kernels::retain_backward(r.shape, r.q, r.k, r.v, r.decay, r.y, r.dq, r.dk, r.dv, r.ddecay);
  });
}
BENCHMARK(retain_forward)->ArgNames({"rows", "threads"})->ArgsProduct({{2048, 8192}, {1, 2}})->UseRealTime();
BENCHMARK(retain_backward)->ArgNames({"rows", "threads"})->ArgsProduct({{2048, 8192}, {1, 2}})->UseRealTime();

// Arguments: rows, width, vocabulary, threads. Three products: logits, dx, dweight.
void cross_entropy(State& state) {
  const kernels::CrossEntropyShape shape{state.range(0), state.range(1), state.range(2)};
  Matrix x(shape.rows, shape.width), weight(shape.vocabulary, shape.width), dx(x), dweight(weight);
  std::vector<int32_t> targets(static_cast<size_t>(shape.rows), 7);
  const double operations = 6.0 * static_cast<double>(shape.rows * shape.width * shape.vocabulary);
  measure_flops(state, static_cast<int>(state.range(3)), operations, [&] {
    benchmark::DoNotOptimize(
        kernels::cross_entropy_gradient(shape, x, weight, targets.data(), 1e-3F, dx, dweight, nullptr));
  });
}
BENCHMARK(cross_entropy)
    ->ArgNames({"rows", "width", "vocabulary", "threads"})
    ->Args({2048, 384, 4096, 1})
    ->Args({2048, 384, 4096, 2})
    ->Args({4096, 768, 32000, 2})
    ->UseRealTime();

// Arguments: rows, width, threads. Bytes: each operand once, each gradient read and written.
void swiglu_forward(State& state) {
  const kernels::ElementShape shape{state.range(0), state.range(1)};
  Matrix gate(shape.rows, shape.width), up(gate), y(gate);
  measure_bytes(state, static_cast<int>(state.range(2)), 12.0 * static_cast<double>(shape.rows * shape.width),
                [&] { kernels::swiglu_forward(shape, gate, up, y); });
}

void swiglu_backward(State& state) {
  const kernels::ElementShape shape{state.range(0), state.range(1)};
  Matrix gate(shape.rows, shape.width), up(gate), dy(gate), dgate(gate), dup(gate);
  measure_bytes(state, static_cast<int>(state.range(2)), 28.0 * static_cast<double>(shape.rows * shape.width),
                [&] { kernels::swiglu_backward(shape, gate, up, dy, dgate, dup); });
}

void norm_forward(State& state) {
  const kernels::NormShape shape{state.range(0), state.range(1)};
  Matrix x(shape.rows, shape.width), y(x), weight(1, shape.width);
  measure_bytes(state, static_cast<int>(state.range(2)), 8.0 * static_cast<double>(shape.rows * shape.width),
                [&] { kernels::norm_forward(shape, x, weight.data.data(), y); });
}

void norm_backward(State& state) {
  const kernels::NormShape shape{state.range(0), state.range(1)};
  Matrix x(shape.rows, shape.width), dy(x), dx(x), weight(1, shape.width), dweight(weight);
  measure_bytes(state, static_cast<int>(state.range(2)), 16.0 * static_cast<double>(shape.rows * shape.width),
                [&] { kernels::norm_backward(shape, x, weight.data.data(), dy, dx, dweight.data.data()); });
}

void rope(State& state) {
  const kernels::RopeTable table(64, {}, 0, 512);
  Matrix x(state.range(0), state.range(1)), y(x);
  measure_bytes(state, static_cast<int>(state.range(2)),
                8.0 * static_cast<double>(state.range(0) * state.range(1)), [&] {
                  kernels::rope_forward({state.range(0), state.range(1) / 64}, table, x, y);
                });
}

void row_shapes(benchmark::internal::Benchmark* b) {
  b->ArgNames({"rows", "width", "threads"});
  for (const int64_t threads : {1, 2}) b->Args({2048, 1024, threads})->Args({16384, 2048, threads});
}
BENCHMARK(swiglu_forward)->Apply(row_shapes)->UseRealTime();
BENCHMARK(swiglu_backward)->Apply(row_shapes)->UseRealTime();
BENCHMARK(norm_forward)->Apply(row_shapes)->UseRealTime();
BENCHMARK(norm_backward)->Apply(row_shapes)->UseRealTime();
BENCHMARK(rope)->Apply(row_shapes)->UseRealTime();

// Arguments: weights, threads. Bytes: gradient read; weight, m and v read and written.
void adamw(State& state) {
  Matrix gradient(1, state.range(0)), weight(gradient), m(gradient), v(gradient);
  for (float& x : v.data) x = std::abs(x);
  measure_bytes(state, static_cast<int>(state.range(1)), 28.0 * static_cast<double>(state.range(0)), [&] {
    kernels::adamw({.learning_rate = 1e-3F}, gradient.data, weight.data, m.data, v.data);
  });
}
BENCHMARK(adamw)->ArgNames({"weights", "threads"})->ArgsProduct({{12 << 20}, {1, 2}})->UseRealTime();

}  // namespace
}  // namespace onceover::bench

BENCHMARK_MAIN();
