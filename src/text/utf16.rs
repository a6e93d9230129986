//! Converts UTF-16 to WTF-8 and back, in chunks of any size.

use super::simd::{self, u8x16, u16x8};

/// Size that a UTF-16 text would have as UTF-8.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Measure {
    /// Number of line feeds.
    pub breaks: usize,
    /// Number of bytes as UTF-8; a lone surrogate has three, as WTF-8 and as U+FFFD alike.
    pub bytes: usize,
}

/// Measures a text without transcoding it.
pub fn measure(units: &[u16]) -> Measure {
    let [breaks, two, three, pairs] = simd::count_units(units, |units, next| {
        [
            units.simd_eq(u16x8::splat(0x0a)),
            units.simd_gt(u16x8::splat(0x7f)),
            units.simd_gt(u16x8::splat(0x7ff)),
            begin(units, 0xfc00, 0xd800) & begin(next, 0xfc00, 0xdc00),
        ]
    });
    // Each half of a pair was counted as three bytes; together they are four.
    Measure { breaks, bytes: units.len() + two + three - 2 * pairs }
}

/// Returns a mask of the units that begin with these bits.
fn begin(units: u16x8, mask: u16, bits: u16) -> u16x8 {
    (units & u16x8::splat(mask)).simd_eq(u16x8::splat(bits))
}

fn is_high(unit: u16) -> bool {
    unit & 0xfc00 == 0xd800
}

fn is_low(unit: u16) -> bool {
    unit & 0xfc00 == 0xdc00
}

/// Returns the character at `at` and its length in units. A lone surrogate is a character of its own.
pub fn scalar_at(units: &[u16], at: usize) -> Option<(u32, usize)> {
    let &first = units.get(at)?;
    match units.get(at + 1) {
        Some(&low) if is_high(first) && is_low(low) => Some((joined(first, low), 2)),
        _ => Some((u32::from(first), 1)),
    }
}

/// Returns the character that ends before `end` and its length in units.
pub fn scalar_before(units: &[u16], end: usize) -> Option<(u32, usize)> {
    let &last = units.get(end.checked_sub(1)?)?;
    match end.checked_sub(2).and_then(|at| units.get(at)) {
        Some(&high) if is_high(high) && is_low(last) => Some((joined(high, last), 2)),
        _ => Some((u32::from(last), 1)),
    }
}

fn joined(high: u16, low: u16) -> u32 {
    0x10000 + ((u32::from(high) & 0x3ff) << 10) + (u32::from(low) & 0x3ff)
}

/// Converts UTF-16 to WTF-8 chunk by chunk: a surrogate pair may be split between two chunks.
#[derive(Debug, Default)]
pub struct Encoder {
    high: Option<u16>,
}

impl Encoder {
    /// Appends the WTF-8 of the units to `out`.
    pub fn push(&mut self, units: &[u16], out: &mut Vec<u8>) {
        out.reserve(units.len() + units.len() / 8 + 3);
        let mut rest = units;
        if let Some(&first) = units.first()
            && let Some(high) = self.high.take()
        {
            if is_low(first) {
                out.extend_from_slice(&pair(high, first));
                rest = rest.get(1..).unwrap_or_default();
            } else {
                out.extend(three(high).iter().take(3));
            }
        }
        while !rest.is_empty() {
            rest = rest.get(simd::push_ascii(rest, out)..).unwrap_or_default();
            rest = self.push_others(rest, out);
        }
    }

    /// Appends the UTF-8 of Latin-1 text.
    pub fn push_latin1(&mut self, bytes: &[u8], out: &mut Vec<u8>) {
        if !bytes.is_empty() {
            self.finish(out);
        }
        let mut rest = bytes;
        while let Some(at) = rest.iter().position(|byte| !byte.is_ascii()) {
            let (ascii, others) = rest.split_at(at);
            out.extend_from_slice(ascii);
            let end = others.iter().position(u8::is_ascii).unwrap_or(others.len());
            let (others, after) = others.split_at(end);
            out.extend(others.iter().flat_map(|byte| [0xc0 | (byte >> 6), 0x80 | (byte & 0x3f)]));
            rest = after;
        }
        out.extend_from_slice(rest);
    }

    /// Returns true if no high surrogate waits for its other half.
    pub fn is_between_characters(&self) -> bool {
        self.high.is_none()
    }

    /// Ends the text: a high surrogate that waits for its other half is written as a lone one.
    pub fn finish(&mut self, out: &mut Vec<u8>) {
        if let Some(high) = self.high.take() {
            out.extend(three(high).iter().take(3));
        }
    }

    /// Encodes up to the next long run of ASCII and returns the rest.
    fn push_others<'a>(&mut self, units: &'a [u16], out: &mut Vec<u8>) -> &'a [u16] {
        const STRETCH: usize = 256;
        let (stretch, rest) = units.split_at(units.len().min(STRETCH));
        let start = out.len();
        // Reserves room for the longest encoding, so that a unit costs one comparison of the length and not a call.
        out.resize(start + 3 * STRETCH + 4, 0);
        let mut to = Room { bytes: out, end: start };
        let mut iter = stretch.iter();
        let mut left = rest;
        while let Some(&unit) = iter.next() {
            if unit < 0x80 {
                to.put([unit as u8, 0, 0, 0], 1);
            } else if unit < 0x800 {
                to.put([0xc0 | (unit >> 6) as u8, 0x80 | (unit & 0x3f) as u8, 0, 0], 2);
            } else if !is_high(unit) {
                to.put(three(unit), 3);
                // Wide characters come in runs.
                while let Some((block, after)) = iter.as_slice().split_first_chunk()
                    && is_wide(block)
                {
                    to.put_wide(block);
                    iter = after.iter();
                }
            } else {
                let inside = iter.as_slice().first();
                match inside.or_else(|| left.first()) {
                    Some(&low) if is_low(low) => {
                        to.put(pair(unit, low), 4);
                        if inside.is_some() {
                            iter.next();
                        } else {
                            left = left.get(1..).unwrap_or_default();
                        }
                    }
                    Some(_) => to.put(three(unit), 3),
                    None => self.high = Some(unit),
                }
            }
        }
        let end = to.end;
        out.truncate(end);
        left
    }
}

/// Number of three-byte characters encoded at once.
const WIDE: usize = 8;

/// Returns true if every unit is a character of three bytes.
fn is_wide(block: &[u16; WIDE]) -> bool {
    let units = u16x8::new(*block);
    !(units.simd_lt(u16x8::splat(0x800)) | begin(units, 0xf800, 0xd800)).any()
}

/// An output buffer with enough space for all that is written to it.
struct Room<'a> {
    bytes: &'a mut [u8],
    end: usize,
}

impl Room<'_> {
    /// Writes four bytes, of which the first `length` count: the next write overwrites the others.
    fn put(&mut self, bytes: [u8; 4], length: usize) {
        if let Some(to) = self.bytes.get_mut(self.end..self.end + 4) {
            to.copy_from_slice(&bytes);
        }
        self.end += length;
    }

    fn put_wide(&mut self, block: &[u16; WIDE]) {
        let room = self.bytes.get_mut(self.end..).and_then(|free| free.first_chunk_mut());
        if let Some(to) = room {
            encode_wide(block, to);
        }
        self.end += 3 * WIDE;
    }
}

// Never inlined into the loop over other units, which needs the registers: measured, that is a tenth faster.
#[inline(never)]
fn encode_wide(block: &[u16; WIDE], to: &mut [u8; 3 * WIDE + 1]) {
    let units = u16x8::new(*block);
    let six = |from: u32| (units >> from) & u16x8::splat(0x3f) | u16x8::splat(0x80);
    let first_two = units >> 12u32 | u16x8::splat(0xe0) | six(6) << 8u32;
    let units = first_two.to_array().into_iter().zip(six(0).to_array());
    for (at, (first_two, last)) in units.enumerate() {
        if let Some(to) = to.get_mut(3 * at..3 * at + 4) {
            let bytes = u32::from(first_two) | u32::from(last) << 16;
            to.copy_from_slice(&bytes.to_le_bytes());
        }
    }
}

fn three(unit: u16) -> [u8; 4] {
    [0xe0 | (unit >> 12) as u8, 0x80 | ((unit >> 6) & 0x3f) as u8, 0x80 | (unit & 0x3f) as u8, 0]
}

fn pair(high: u16, low: u16) -> [u8; 4] {
    let point = 0x1_0000 + ((u32::from(high) & 0x3ff) << 10 | u32::from(low) & 0x3ff);
    [
        0xf0 | (point >> 18) as u8,
        0x80 | ((point >> 12) & 0x3f) as u8,
        0x80 | ((point >> 6) & 0x3f) as u8,
        0x80 | (point & 0x3f) as u8,
    ]
}

/// Returns true if these are the three bytes of a lone surrogate in WTF-8.
pub fn is_surrogate(bytes: &[u8]) -> bool {
    matches!(bytes, [0xed, 0xa0..=0xbf, 0x80..=0xbf, ..])
}

/// Returns the length of a text in UTF-16 code units, which is its length in JavaScript.
pub fn units(text: &str) -> usize {
    let bytes = text.as_bytes();
    // One unit per character, and one more for each of four bytes.
    let long = if simd::any_byte(bytes, 0, |bytes| bytes.simd_ge(u8x16::splat(0xf0))) {
        bytes.iter().filter(|byte| **byte >= 0xf0).count()
    } else {
        0
    };
    text.chars().count() + long
}

/// Converts WTF-8 back into the UTF-16 it was made from. Bytes that are neither UTF-8 nor a lone surrogate become
/// U+FFFD.
pub fn decode(bytes: &[u8]) -> Vec<u16> {
    // Nearly all input is well-formed, and validation is vectorized.
    if let Ok(text) = simdutf8::basic::from_utf8(bytes) {
        return of_text(text);
    }
    let mut units = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some(chunk) = rest.utf8_chunks().next() {
        let valid = chunk.valid();
        push_units(valid, &mut units);
        let after = rest.get(valid.len()..).unwrap_or_default();
        if chunk.invalid().is_empty() {
            break;
        }
        if let [_, second, third, ..] = after
            && is_surrogate(after)
        {
            units.push(0xd000 | (u16::from(second & 0x3f) << 6) | u16::from(third & 0x3f));
            rest = after.get(3..).unwrap_or_default();
        } else {
            units.push(0xfffd);
            rest = after.get(chunk.invalid().len()..).unwrap_or_default();
        }
    }
    units
}

/// Returns the UTF-16 of a text.
pub fn of_text(text: &str) -> Vec<u16> {
    // A character never has more units than bytes.
    let mut units = Vec::with_capacity(text.len());
    push_units(text, &mut units);
    units
}

fn push_units(text: &str, units: &mut Vec<u16>) {
    if text.is_ascii() {
        units.extend(text.bytes().map(u16::from));
    } else {
        units.extend(text.encode_utf16());
    }
}

/// Returns the number of bytes at the end, 0 to 3, that belong to a character which the next chunk may complete.
pub fn incomplete_suffix(bytes: &[u8]) -> usize {
    for back in 1..=bytes.len().min(3) {
        let Some(&lead) = bytes.get(bytes.len() - back) else { return 0 };
        let needs = match lead {
            0x80..=0xbf => continue,
            0xc2..=0xdf => 2,
            0xe0..=0xef => 3,
            0xf0..=0xf4 => 4,
            _ => 1,
        };
        return if needs > back { back } else { 0 };
    }
    0
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn encode(units: &[u16]) -> Vec<u8> {
        let mut out = Vec::new();
        let mut encoder = Encoder::default();
        encoder.push(units, &mut out);
        encoder.finish(&mut out);
        out
    }

    #[test]
    fn well_formed_text_is_plain_utf8() {
        for text in ["", "a", "é", "你好", "👨‍👩‍👧 family", &"x".repeat(1000)] {
            let units: Vec<u16> = text.encode_utf16().collect();
            assert_eq!(encode(&units), text.as_bytes());
            assert_eq!(decode(text.as_bytes()), units);
            assert_eq!(measure(&units).bytes, text.len());
            assert_eq!(super::units(text), units.len());
        }
    }

    #[test]
    fn lone_surrogates_survive() {
        for units in [
            &[0xd800][..],
            &[0xdc00],
            &[0xdc00, 0xd800],
            &[0x61, 0xd800, 0x62],
            &[0xd800, 0xd800, 0xdc00],
        ] {
            assert_eq!(decode(&encode(units)), units);
        }
    }

    #[test]
    fn nothing_comes_between_the_halves_of_a_pair() {
        let (mut encoder, mut out) = (Encoder::default(), Vec::new());
        encoder.push(&[0xd83d], &mut out);
        encoder.push(&[], &mut out);
        encoder.push_latin1(b"", &mut out);
        encoder.push(&[0xde00], &mut out);
        assert_eq!(out, "😀".as_bytes());
    }

    #[test]
    fn an_incomplete_suffix_is_what_a_cut_leaves_of_a_character() {
        let text = "a😀".as_bytes();
        let left: Vec<usize> =
            (0..=text.len()).map(|end| incomplete_suffix(&text[..end])).collect();
        assert_eq!(left, [0, 0, 1, 2, 3, 0]);
        assert_eq!(incomplete_suffix(&[0x80, 0x80, 0x80, 0x80]), 0);
    }

    /// Mostly natural text, with surrogates in any order between.
    fn any_units() -> impl Strategy<Value = Vec<u16>> {
        let unit = prop_oneof![
            4 => 0x20u16..0x7f,
            1 => Just(0x0a),
            2 => 0x80u16..0xd800,
            2 => 0xd800u16..0xe000,
            1 => any::<u16>(),
        ];
        prop::collection::vec(unit, 0..300)
    }

    proptest! {
        #[test]
        fn any_string_comes_back_however_it_is_split(units in any_units(), at in any::<prop::sample::Index>()) {
            let split = if units.is_empty() { 0 } else { at.index(units.len()) };
            let mut out = Vec::new();
            let mut encoder = Encoder::default();
            encoder.push(&units[..split], &mut out);
            encoder.push(&units[split..], &mut out);
            encoder.finish(&mut out);
            prop_assert_eq!(&out, &encode(&units));
            prop_assert_eq!(decode(&out), units);
        }

        #[test]
        fn latin1_is_the_same_text_in_half_the_room(before in any_units(), bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let units: Vec<u16> = bytes.iter().map(|&byte| byte.into()).collect();
            let mut out = Vec::new();
            let mut encoder = Encoder::default();
            encoder.push(&before, &mut out);
            encoder.push_latin1(&bytes, &mut out);
            encoder.finish(&mut out);
            prop_assert_eq!(out, encode(&[before, units].concat()));
        }

        #[test]
        fn the_measure_is_that_of_the_encoding(units in any_units()) {
            let bytes = encode(&units);
            let breaks = bytes.iter().filter(|&&b| b == b'\n').count();
            prop_assert_eq!(measure(&units), Measure { breaks, bytes: bytes.len() });
        }

        #[test]
        fn any_bytes_decode_as_the_web_does(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
            prop_assume!(!bytes.windows(3).any(is_surrogate));
            let expected: Vec<u16> = String::from_utf8_lossy(&bytes).encode_utf16().collect();
            prop_assert_eq!(decode(&bytes), expected);
        }
    }
}
