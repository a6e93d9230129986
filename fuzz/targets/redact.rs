#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| spillway_fuzz::timed(
    data,
    spillway_fuzz::properties::redact::check
));
