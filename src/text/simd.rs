//! Vectorized scans of bytes and UTF-16 code units.
//!
//! Vectors are written explicitly, because a build that is optimized for size does not vectorize loops.

use wide::bytemuck::cast;
pub use wide::{u8x16, u16x8};

/// Number of vectors whose counts are added up at a time: few enough that a lane cannot overflow, so that the counts
/// stay in a register.
const STRETCH: usize = 1024;

/// Returns true if any lane of `test` is set for any of the bytes. `harmless` is a padding byte for which no lane is.
#[inline]
pub fn any_byte(text: &[u8], harmless: u8, test: impl Fn(u8x16) -> u8x16) -> bool {
    let (blocks, rest) = text.as_chunks();
    let found = blocks.iter().fold(u8x16::ZERO, |found, block| found | test(u8x16::new(*block)));
    (found | test(u8x16::new(filled(rest, harmless)))).any()
}

/// Counts, for each test, the units for which its lane is set. A test is given units and their successors; the
/// successor of the last unit is 0, for which no lane may be set.
#[inline]
pub fn count_units<const TESTS: usize>(
    units: &[u16],
    tests: impl Fn(u16x8, u16x8) -> [u16x8; TESTS],
) -> [usize; TESTS] {
    let (blocks, _) = units.as_chunks();
    let (next_blocks, next_rest) = units.get(1..).unwrap_or_default().as_chunks();
    let rest = units.get(8 * next_blocks.len()..).unwrap_or_default();
    let ends = ([filled(rest, 0)], [filled(next_rest, 0)]);

    let mut totals = [0; TESTS];
    let stretches = blocks.chunks(STRETCH).zip(next_blocks.chunks(STRETCH));
    for (stretch, next) in stretches.chain([(&ends.0[..], &ends.1[..])]) {
        let mut counts = [u16x8::ZERO; TESTS];
        for (block, next) in stretch.iter().zip(next) {
            let found = tests(u16x8::new(*block), u16x8::new(*next));
            // A lane that is set is -1.
            counts.iter_mut().zip(found).for_each(|(count, found)| *count -= found);
        }
        for (total, count) in totals.iter_mut().zip(counts) {
            *total += count.to_array().into_iter().map(usize::from).sum::<usize>();
        }
    }
    totals
}

fn filled<T: Copy, const N: usize>(rest: &[T], with: T) -> [T; N] {
    let mut block = [with; N];
    block.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
    block
}

/// Appends the ASCII at the start of `units` to `out` in whole vectors. Returns the number of units appended.
#[inline]
pub fn push_ascii(units: &[u16], out: &mut Vec<u8>) -> usize {
    let mut done = 0;
    for [low, high] in units.as_chunks().0.as_chunks().0 {
        let (low, high) = (u16x8::new(*low), u16x8::new(*high));
        if (low | high).simd_gt(u16x8::splat(0x7f)).any() {
            break;
        }
        out.extend_from_slice(&u8x16::narrow_i16x8(cast(low), cast(high)).to_array());
        done += 16;
    }
    done
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_byte_is_found_wherever_it_is(text in prop::collection::vec(0u8..4, 0..70)) {
            let found = any_byte(&text, 0, |bytes| bytes.simd_eq(u8x16::splat(3)));
            prop_assert_eq!(found, text.contains(&3));
        }

        #[test]
        fn units_are_counted_however_many_there_are(units in prop::collection::vec(0u16..4, 0..70), times in 1usize..400) {
            let units = units.repeat(times);
            let is = |units: u16x8, unit| units.simd_eq(u16x8::splat(unit));
            let counts = count_units(&units, |units, next| [is(units, 1), is(units, 1) & is(next, 2)]);
            prop_assert_eq!(counts[0], units.iter().filter(|unit| **unit == 1).count());
            prop_assert_eq!(counts[1], units.windows(2).filter(|pair| *pair == [1, 2]).count());
        }

        #[test]
        fn ascii_is_taken_up_to_the_vector_that_holds_something_else(units in prop::collection::vec(0u16..0x82, 0..200)) {
            let mut out = Vec::new();
            let done = push_ascii(&units, &mut out);
            let ascii = units.iter().position(|unit| *unit > 0x7f).unwrap_or(units.len());
            prop_assert_eq!(done, ascii / 16 * 16);
            prop_assert_eq!(out, units[..done].iter().map(|unit| *unit as u8).collect::<Vec<_>>());
        }
    }
}
