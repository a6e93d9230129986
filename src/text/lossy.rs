//! Decodes raw bytes into the text that a model is shown: always well-formed, with a map from its offsets to those of
//! the raw bytes.

use std::borrow::Cow;

use super::utf16::is_surrogate;

/// Origin of the bytes, which decides how a lone surrogate in them is decoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Source {
    /// A JavaScript string as WTF-8: the three bytes of a lone surrogate are one UTF-16 code unit, shown as one U+FFFD.
    #[default]
    Text,
    /// Bytes from outside, decoded as the WHATWG Encoding Standard specifies.
    Bytes,
}

/// A well-formed text, with a map from its offsets to those of the raw bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shown<'a> {
    /// The text. Borrows the raw bytes if they are well-formed.
    pub text: Cow<'a, str>,
    /// For each U+FFFD that replaces raw bytes: its offset in the text and the number of bytes replaced, in ascending
    /// order.
    replaced: Vec<(usize, usize)>,
}

const REPLACEMENT_BYTES: usize = 3;

impl<'a> Shown<'a> {
    /// Decodes raw bytes.
    pub fn decode(raw: &'a [u8], source: Source) -> Self {
        // Nearly all input is well-formed, and validation is vectorized.
        if let Ok(text) = simdutf8::basic::from_utf8(raw) {
            return Shown { text: Cow::Borrowed(text), replaced: Vec::new() };
        }
        let (mut text, mut replaced) = (String::with_capacity(raw.len()), Vec::new());
        let mut rest = raw;
        while let Some(chunk) = rest.utf8_chunks().next() {
            text.push_str(chunk.valid());
            let after = rest.get(chunk.valid().len()..).unwrap_or_default();
            if chunk.invalid().is_empty() {
                break;
            }
            let length = if source == Source::Text && is_surrogate(after) {
                3
            } else {
                chunk.invalid().len()
            };
            replaced.push((text.len(), length));
            text.push('\u{fffd}');
            rest = after.get(length..).unwrap_or_default();
        }
        Shown { text: Cow::Owned(text), replaced }
    }

    /// Returns the offset in the raw bytes that corresponds to an offset in the text.
    pub fn raw_offset(&self, offset: usize) -> usize {
        let before = self.replaced.iter().take_while(|(at, _)| *at < offset);
        before.fold(offset, |raw, (_, length)| raw + length - REPLACEMENT_BYTES)
    }

    /// Returns the number of replacement characters.
    pub fn replaced(&self) -> usize {
        self.replaced.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_lead_back_to_the_raw_bytes() {
        let shown = Shown::decode(b"ab\xffcd\xe4\xbd!", Source::Bytes);
        assert_eq!(shown.text, "ab\u{fffd}cd\u{fffd}!");
        let offsets: Vec<usize> = [0, 2, 5, 7, 10, 11].map(|at| shown.raw_offset(at)).to_vec();
        assert_eq!(offsets, [0, 2, 3, 5, 7, 8]);
        assert_eq!(shown.replaced(), 2);
    }

    #[test]
    fn a_lone_surrogate_is_one_mark_in_text_and_three_in_bytes() {
        let raw = b"x\xed\xa0\x80y";
        assert_eq!(Shown::decode(raw, Source::Text).text, "x\u{fffd}y");
        assert_eq!(Shown::decode(raw, Source::Bytes).text, String::from_utf8_lossy(raw));
    }
}
