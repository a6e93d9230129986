//! Text: encodings, lines, graphemes, terminal output.
//!
//! A JavaScript string is a sequence of UTF-16 code units that need not be well-formed. It is converted to WTF-8: UTF-8
//! in which a lone surrogate keeps its three-byte form, so that the same string can be restored. Bytes are taken as
//! they are. The text shown to a model is always well-formed: [`lossy`] puts U+FFFD where the original is not.
//!
//! | module | contents |
//! | --- | --- |
//! | [`utf16`] | converting JavaScript strings to bytes and back |
//! | [`utf8_boundary`] | places where UTF-8 may be cut |
//! | [`lossy`] | replacements for bytes that are no text |
//! | [`lines`] | ends of lines |
//! | [`line_hash`] | hashes of lines that are equal, or equal but for numbers |
//! | [`graphemes`] | ends of visible characters |
//! | [`terminal`] | the screen of a terminal after an output |
//! | [`specific_words`] | words that name something specific |
//! | [`omitted_range`] | the part of an output that is not in its file |
//! | [`simd`] | fast scans of bytes |
//!
//! ```
//! use spillway_base::text::utf16::{Encoder, decode};
//!
//! // A surrogate pair that is split between two chunks is one character.
//! let (mut encoder, mut bytes) = (Encoder::default(), Vec::new());
//! encoder.push(&[0x41, 0xd83d], &mut bytes);
//! encoder.push(&[0xde00], &mut bytes);
//! encoder.finish(&mut bytes);
//! assert_eq!(bytes, "A😀".as_bytes());
//! assert_eq!(decode(&bytes), [0x41, 0xd83d, 0xde00]);
//! ```

pub mod graphemes;
pub mod line_hash;
pub mod lines;
pub mod lossy;
pub mod omitted_range;
pub mod simd;
pub mod specific_words;
pub mod terminal;
pub mod utf16;
pub mod utf8_boundary;

/// Joins sentences with spaces, except after the full stop `。`.
pub fn join_sentences(sentences: &[impl AsRef<str>]) -> String {
    let mut joined = String::new();
    for sentence in sentences {
        if !joined.is_empty() && !joined.ends_with('。') {
            joined.push(' ');
        }
        joined.push_str(sentence.as_ref());
    }
    joined
}
