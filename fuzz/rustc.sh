#!/bin/sh
# Builds the core so that libFuzzer sees which way an input takes through it, and everything else as usual: what others
# wrote is not what is looked at, and slow when it is. Cargo calls this in place of rustc.
case " $* " in
*" --crate-name spillway_core "* | *" --crate-name spillway_base "*)
  exec "$@" -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares
  ;;
*) exec "$@" ;;
esac
