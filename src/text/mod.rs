//! What a text is.
//!
//! A JavaScript string is a sequence of UTF-16 code units that need not be well-formed. It enters as such and becomes
//! WTF-8: UTF-8 in which a lone surrogate keeps its three-byte form, so that the very same string can be made again.
//! Bytes enter as they are. What a model is shown is always well-formed: [`shown`] puts U+FFFD where the original was not.

pub mod graphemes;
pub mod lines;
pub mod lossy;
pub mod simd;
pub mod terminal;
pub mod utf16;
pub mod utf8_boundary;
