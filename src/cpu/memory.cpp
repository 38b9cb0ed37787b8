#include "cpu/memory.h"

#include <algorithm>
#include <numeric>

#include "cpu/kernels/buffer.h"

namespace onceover::cpu {
namespace {

// Walks the actions and gives every value, side result and gradient a buffer.
class Assigner {
 public:
  Assigner(const Plan& plan, const std::vector<StepAction>& actions, int64_t rows, const SideSize& side_size)
      : plan_(plan),
        rows_(rows),
        side_size_(side_size),
        value_(plan.steps.size(), no_buffer),
        side_(value_),
        gradient_(value_) {
    for (now_ = 0; now_ < static_cast<int>(actions.size()); now_++) {
      operands_.push_back(actions[now_].pass == Pass::Forward ? forward(actions[now_].step)
                                                              : backward(actions[now_].step));
    }
  }

  std::vector<PlannedBuffer> buffers;
  std::vector<Operands> take_operands() { return std::move(operands_); }

 private:
  int make(int64_t elements) {
    buffers.push_back({elements, now_, now_, -1});
    return static_cast<int>(buffers.size()) - 1;
  }

  int touch(int buffer) {
    if (buffer != no_buffer) buffers[buffer].dies = now_;
    return buffer;
  }

  int64_t size_of(ValueId v) const { return rows_ * plan_.steps[v].width; }

  Operands forward(ValueId step) {
    Operands o;
    int i = 0;
    for_inputs(plan_.steps[step].op, [&](const char*, ValueId v, Reads) { o.in[i++] = touch(value_[v]); });
    // The logits are never written down: their action computes the loss and passes its gradient on at once.
    if (step != plan_.logits) o.out = value_[step] = make(size_of(step));
    const int64_t side = side_size_(plan_.steps[step].op);
    if (side > 0) o.side = side_[step] = make(side);
    return o;
  }

  Operands backward(ValueId step) {
    Operands o;
    const BackwardReads reads = backward_reads(plan_.steps[step].op);
    if (reads.output) o.out = touch(value_[step]);
    o.side = touch(side_[step]);
    o.grad_out = touch(gradient_[step]);
    int i = 0;
    for_inputs(plan_.steps[step].op, [&](const char*, ValueId v, Reads) {
      if (reads.inputs) o.in[i] = touch(value_[v]);
      // Before the first trained step of a truncated gradient nobody reads it, but the kernel writes it.
      o.fresh[i] = gradient_[v] == no_buffer;
      if (o.fresh[i]) gradient_[v] = make(size_of(v));
      o.grad_in[i] = touch(gradient_[v]);
      i++;
    });
    return o;
  }

  const Plan& plan_;
  int64_t rows_;
  const SideSize& side_size_;
  std::vector<int> value_, side_, gradient_;  // the current buffer, by step
  std::vector<Operands> operands_;
  int now_ = 0;
};

// Lets buffers share storage where an action may work in place.
class Merger {
 public:
  explicit Merger(std::vector<PlannedBuffer>& buffers) : buffers_(buffers), storage_(buffers.size()) {
    std::iota(storage_.begin(), storage_.end(), 0);
  }

  int storage(int buffer) const { return storage_[buffer]; }

  void merge(const Plan& plan, const StepAction& action, const Operands& o, int now) {
    const Op& op = plan.steps[action.step].op;
    if (action.pass == Pass::Forward) {
      if (std::holds_alternative<Rope>(op)) share(o.out, o.in[0], now);
      if (std::holds_alternative<Add>(op) && !share(o.out, o.in[0], now)) share(o.out, o.in[1], now);
      return;
    }
    const bool passes_on = std::holds_alternative<Rope>(op) || std::holds_alternative<Add>(op);
    if (!passes_on || (o.grad_in[0] != no_buffer && o.grad_in[0] == o.grad_in[1])) return;
    if (!(o.grad_in[0] != no_buffer && o.fresh[0] && share(o.grad_in[0], o.grad_out, now)) &&
        o.grad_in[1] != no_buffer && o.fresh[1]) {
      share(o.grad_in[1], o.grad_out, now);
    }
  }

 private:
  // `heir` takes over the storage of `dying` if nothing reads that after this action.
  bool share(int heir, int dying, int now) {
    if (heir == no_buffer || dying == no_buffer) return false;
    PlannedBuffer& from = buffers_[storage_[dying]];
    if (from.dies != now || from.elements != buffers_[heir].elements) return false;
    from.dies = buffers_[heir].dies;
    storage_[heir] = storage_[dying];
    return true;
  }

  std::vector<PlannedBuffer>& buffers_;
  std::vector<int> storage_;
};

// First fit, largest first: close to the least arena for such lifetimes, and simple.
int64_t place(std::vector<PlannedBuffer>& buffers, const std::vector<int>& owners) {
  std::vector<int> order = owners;
  std::stable_sort(order.begin(), order.end(),
                   [&](int a, int b) { return buffers[a].elements > buffers[b].elements; });
  std::vector<int> placed;  // by offset
  int64_t peak = 0;
  for (int id : order) {
    PlannedBuffer& buffer = buffers[id];
    int64_t offset = 0;
    for (int other_id : placed) {
      const PlannedBuffer& other = buffers[other_id];
      if (other.dies < buffer.born || buffer.dies < other.born) continue;
      if (offset + buffer.elements <= other.offset) break;
      offset = std::max(offset, other.offset + kernels::whole_lines(other.elements));
    }
    buffer.offset = offset;
    peak = std::max(peak, offset + buffer.elements);
    placed.insert(std::upper_bound(placed.begin(), placed.end(), id,
                                   [&](int a, int b) { return buffers[a].offset < buffers[b].offset; }),
                  id);
  }
  return peak;
}

}  // namespace

MemoryPlan plan_memory(const Plan& plan, const std::vector<StepAction>& actions, int64_t rows,
                       const SideSize& side_size) {
  Assigner assigner(plan, actions, rows, side_size);
  MemoryPlan memory{std::move(assigner.buffers), assigner.take_operands(), 0};
  Merger merger(memory.buffers);
  for (size_t i = 0; i < actions.size(); i++)
    merger.merge(plan, actions[i], memory.operands[i], static_cast<int>(i));
  std::vector<int> owners;
  for (int id = 0; id < static_cast<int>(memory.buffers.size()); id++) {
    if (merger.storage(id) == id) owners.push_back(id);
  }
  memory.arena_floats = place(memory.buffers, owners);
  for (int id = 0; id < static_cast<int>(memory.buffers.size()); id++) {
    memory.buffers[id].offset = memory.buffers[merger.storage(id)].offset;
  }
  return memory;
}

}  // namespace onceover::cpu
