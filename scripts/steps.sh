# shellcheck shell=bash
# The steps that run and test share. Sourced with the repository's root as the current directory.
# ccache is used where it is installed; nothing needs it.

# "== building preset release (0:12 so far)"
current=start
section() {
  current=$*
  printf '\n== %s (%d:%02d so far)\n' "$*" $((SECONDS / 60)) $((SECONDS % 60))
}

say_where_it_stopped() {
  local status=$?
  if ((status != 0)); then
    echo
    echo "${0##*/}: failed in: $current (exit status $status)"
  fi >&2
}
trap say_where_it_stopped EXIT

# install_packages LIST…
install_packages() {
  section "packages"
  scripts/install_packages "$@"
  echo "all packages are installed: $*"
}

# build PRESET [TARGET…]
build() {
  local preset=$1
  shift
  section "building preset $preset"
  if command -v ccache >/dev/null; then export CMAKE_CXX_COMPILER_LAUNCHER=ccache; fi
  cmake --preset "$preset"
  cmake --build --preset "$preset" ${1:+--target "$@"}
}

# run_tests PRESET [ctest's own options…]
run_tests() {
  local preset=$1
  shift
  section "testing preset $preset"
  ctest --preset "$preset" -j "$(nproc)" --no-tests=error "$@"
}
