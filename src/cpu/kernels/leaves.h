// The inner loops of the kernels, once for each instruction set: one table, chosen at start-up.
//
// The bodies are in leaves/*.h, compiled by leaves_portable.cpp and leaves_avx2.cpp. A leaf runs on one
// thread, on memory that its caller owns alone; `n` counts floats. Results of the two tables differ by
// rounding only.
#pragma once
#include "cpu/kernels/attention_shape.h"
#include "cpu/kernels/packed_rows.h"
#include "cpu/kernels/page.h"
#include "cpu/kernels/paged_attention.h"
#include "cpu/kernels/retention.h"
#include "cpu/kernels/view.h"

namespace onceover::kernels {

struct AttendForwardCall {
  AttendShape shape;
  Input q, k, v;
  Output y;
  float* log_sum_exp;
};

struct AttendBackwardCall {
  AttendShape shape;
  Input q, k, v, y;
  const float* log_sum_exp;
  Input dy;
  Output dq, dk, dv;
};

// Some query rows and key heads of a call against some of its pages.
struct PagedItem {
  const PagedCall* call;
  int64_t first_head, end_head;  // key heads
  int64_t first_row, end_row;
  int64_t first_page, end_page;
  // [q_rows, heads, partial_floats]: sums not yet divided, the largest score, the sum of exponentials. Null =
  // these pages are all there are: write y.
  float* partial;
};

inline int64_t partial_floats(const AttendShape& s) { return s.v_head_dim + 2; }

struct RetainForwardCall {
  RetainShape shape;
  Input q, k, v, decay;
  Output y;
  float* state;
};

struct RetainBackwardCall {
  RetainShape shape;
  Input q, k, v, decay, dy;
  Output dq, dk, dv, ddecay;
};

// Constants of one AdamW step (adamw.h), with the bias corrections worked in.
struct AdamwStep {
  float gradient_scale, beta1, beta2;
  float step_size;      // lr / (1 - beta1^t)
  float root_scale;     // 1 / sqrt(1 - beta2^t)
  float epsilon, keep;  // keep = 1 - lr * weight_decay
};

struct Leaves {
  const char* name;

  float (*dot)(int64_t n, const float* a, const float* b);
  double (*sum_squares)(int64_t n, const float* x);
  // y += scale * x
  void (*add_scaled)(int64_t n, float scale, const float* x, float* y);
  // y[r][o] = x[r] · w[o] for up to 8 rows; y's stride is y_stride.
  void (*linear_few)(int64_t rows, int64_t outputs, int64_t depth, Input x, Input w, Output y);

  // Products with packed weights (packed_linear.h). y's rows are those of the group, or of all groups.
  int64_t (*group_rows)(WeightFormat);
  void (*pack_group)(WeightFormat, Input x, const RowGroup& to);
  void (*packed_few)(const PackedMatrix&, int64_t first_panel, int64_t panels, const RowGroup& x, Output y);
  int64_t (*packed_scratch)();
  void (*packed_many)(const PackedMatrix&, int64_t first_panel, int64_t panels, const PackedRows& x,
                      int64_t first_group, int64_t groups, Output y, float* scratch);

  // One group of one row (norm.h). weight and dweight may be null.
  void (*norm_forward)(int64_t n, const float* x, const float* weight, float eps, float* y);
  void (*norm_backward)(int64_t n, const float* x, const float* weight, float eps, const float* dy, float* dx,
                        float* dweight);

  // One head: pairs (j, j + half) turned by the angles whose cos and sin are given; y (+)= the turned x. x
  // may be y.
  void (*rotate)(int64_t half, const float* cos, const float* sin, float direction, const float* x, float* y,
                 bool add);

  void (*swiglu_forward)(int64_t n, const float* gate, const float* up, float* y);
  void (*swiglu_backward)(int64_t n, const float* gate, const float* up, const float* dy, float* dgate,
                          float* dup);

  double (*log_sum_exp)(int64_t n, const float* x);
  // x = factor * exp(x - shift)
  void (*exp_shifted)(int64_t n, float shift, float factor, float* x);

  void (*adamw)(int64_t n, const AdamwStep&, const float* gradient, float* weight, float* m, float* v);

  // Query rows first_row .. end_row - 1 of a sequence, for every query head that reads kv_head.
  int64_t (*attend_forward_scratch)(const AttendShape&, int64_t rows);
  void (*attend_forward)(const AttendForwardCall&, int64_t sequence, int64_t kv_head, int64_t first_row,
                         int64_t end_row, float* scratch);
  int64_t (*attend_backward_scratch)(const AttendShape&);
  void (*attend_backward)(const AttendBackwardCall&, int64_t sequence, int64_t kv_head, float* scratch);

  // Rows `first` .. first + count - 1 of a page.
  void (*store_page_rows)(const PageLayout&, std::byte* page, int64_t first, int64_t count, Input rows);
  int64_t (*attend_paged_scratch)(const PagedItem&);
  void (*attend_paged)(const PagedItem&, float* scratch);
  // y [width] from `parts` partial results that lie `stride` floats apart.
  void (*combine_partials)(int64_t parts, int64_t width, const float* partial, int64_t stride, float* y);

  int64_t (*retain_forward_scratch)(const RetainShape&);
  void (*retain_forward)(const RetainForwardCall&, int64_t sequence, int64_t head, float* scratch);
  void (*retain_step)(const RetainForwardCall&, int64_t sequence, int64_t head);
  int64_t (*retain_backward_scratch)(const RetainShape&);
  void (*retain_backward)(const RetainBackwardCall&, int64_t sequence, int64_t head, float* scratch);
};

extern const Leaves portable_leaves;
#if defined(__x86_64__)
extern const Leaves avx2_leaves;
#endif

// The table in use: AVX2 where the processor has it, unless the environment variable ONCEOVER_ISA is
// "portable".
const Leaves& leaves();

// Chooses the table by hand, for tests. Not while kernels run.
void use_leaves(const Leaves&);

// True where avx2_leaves may be used.
bool has_avx2();

}  // namespace onceover::kernels
