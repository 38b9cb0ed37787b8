// A matrix as the kernels see it: a pointer and the distance between rows, in floats. Neither owned nor
// checked.
#pragma once
#include <cstdint>
#include <type_traits>

namespace onceover::kernels {

template <class T>
struct View {
  T* data = nullptr;
  int64_t stride = 0;

  T* operator[](int64_t row) const { return data + row * stride; }
  explicit operator bool() const { return data != nullptr; }
  // The same rows, from column `first` on.
  View columns(int64_t first) const { return {data + first, stride}; }
  operator View<const T>() const requires(!std::is_const_v<T>) { return {data, stride}; }
};

using Input = View<const float>;
using Output = View<float>;

}  // namespace onceover::kernels
