//! A string is the same after a round trip through bytes, however it is split; bytes are decoded as the web does.

use spillway_core::text::lossy::{Shown, Source};
use spillway_core::text::utf16::{
    Encoder, Measure, decode, incomplete_suffix, measure, of_text, units,
};
use spillway_core::text::{graphemes, utf8_boundary};
use spillway_core::tokens::cost;

use super::input::{Input, encode};

pub fn check(data: &[u8]) {
    let mut input = Input::new(data);
    let is_utf16 = input.flag();
    let (first, second) = (input.below(65_536), input.below(65_536));
    let content = input.content(1024);
    check_bytes(&content, first, second);
    let string: Vec<u16> = if is_utf16 {
        content.chunks_exact(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]])).collect()
    } else {
        decode(&content)
    };
    check_string(&string, first, second);
}

fn check_string(string: &[u16], first: usize, second: usize) {
    let bytes = encode(string);
    assert_eq!(decode(&bytes), string);
    if let Ok(text) = String::from_utf16(string) {
        assert_eq!(bytes, text.as_bytes());
        assert_eq!((of_text(&text).as_slice(), units(&text)), (string, string.len()));
    }
    let breaks = bytes.iter().filter(|&&byte| byte == b'\n').count();
    assert_eq!(measure(string), Measure { breaks, bytes: bytes.len() });
    assert_eq!(cost(string).bytes, bytes.len() as u64);
    assert_eq!(Shown::decode(&bytes, Source::Text).text, String::from_utf16_lossy(string));

    let (mut encoder, mut out) = (Encoder::default(), Vec::new());
    for piece in split(string, first, second) {
        if piece.iter().all(|&unit| unit < 0x100) {
            let low: Vec<u8> = piece.iter().map(|&unit| unit as u8).collect();
            encoder.push_latin1(&low, &mut out);
        } else {
            encoder.push(piece, &mut out);
        }
    }
    encoder.finish(&mut out);
    assert_eq!(out, bytes);

    // As a file is read: the rest of a character is prepended to the next chunk.
    let (mut read, mut pending) = (Vec::new(), Vec::new());
    for piece in split(&bytes, first, second) {
        pending.extend_from_slice(piece);
        let rest = pending.split_off(pending.len() - incomplete_suffix(&pending));
        read.extend(decode(&pending));
        pending = rest;
    }
    read.extend(decode(&pending));
    assert_eq!(read, string);
}

fn check_bytes(bytes: &[u8], first: usize, second: usize) {
    let lossy = String::from_utf8_lossy(bytes);
    let shown = Shown::decode(bytes, Source::Bytes);
    assert_eq!(shown.text, lossy);
    if !bytes.windows(3).any(|three| matches!(three, [0xed, 0xa0..=0xbf, 0x80..=0xbf])) {
        assert_eq!(decode(bytes), lossy.encode_utf16().collect::<Vec<u16>>());
    }
    // The map from displayed text to bytes is monotonic and covers both ends.
    let ends: Vec<usize> =
        lossy.char_indices().map(|(at, _)| at).chain([lossy.len()]).take(200).collect();
    let places: Vec<usize> = ends.iter().map(|&at| shown.raw_offset(at)).collect();
    assert!(places.windows(2).all(|pair| pair[0] < pair[1]));
    assert_eq!(shown.raw_offset(lossy.len()), bytes.len());
    for at in [first, second] {
        let at = at % (bytes.len() + 2);
        let (floor, ceil) = (utf8_boundary::floor(bytes, at), utf8_boundary::ceil(bytes, at));
        assert!(
            floor <= at.min(bytes.len())
                && ceil >= at.min(bytes.len())
                && ceil - floor <= utf8_boundary::MAX_LENGTH
        );
        for cut in [floor, ceil] {
            let show = |bytes| Shown::decode(bytes, Source::Text).text;
            let (before, after) = bytes.split_at(cut);
            assert_eq!(show(before) + &*show(after), show(bytes));
        }
        let (floor, ceil) = (graphemes::floor(&lossy, at), graphemes::ceil(&lossy, at));
        assert!(lossy.is_char_boundary(floor) && lossy.is_char_boundary(ceil));
        assert!(floor <= at && ceil >= at.min(lossy.len()));
    }
}

fn split<T>(whole: &[T], first: usize, second: usize) -> [&[T]; 3] {
    let (first, second) = (first % (whole.len() + 1), second % (whole.len() + 1));
    let (from, to) = (first.min(second), first.max(second));
    [&whole[..from], &whole[from..to], &whole[to..]]
}
