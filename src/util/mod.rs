//! Helpers without knowledge of any other module.
//!
//! | module | contents |
//! | --- | --- |
//! | [`hash`] | computes short hashes that are the same in every process |
//! | [`hex`] | writes bytes as hexadecimal digits |
//! | [`language`] | names the languages of messages |
//! | [`option_values`] | readers of booleans, texts, objects and arrays among options |
//! | [`regex_source`] | holds a regular expression of a caller with its flags |
//! | [`size`] | reads sizes such as `50k` |
//! | [`sort`] | sorts with one copy of the algorithm for all types |
//! | [`suggest`] | finds the known name nearest to a misspelt one |
//! | [`sync`] | locks mutexes that a panic has poisoned |
//! | [`threads`] | starts threads with one copy of the code for all work |
//! | [`words`] | finds a word in a list that is one text |
//!
//! ```
//! use spillway_base::util::{hex::hex, size};
//!
//! assert_eq!(size::bytes("50k"), Some(51_200));
//! assert_eq!(hex(&[0x0f, 0xa0]), "0fa0");
//! ```

pub mod hash;
pub mod hex;
pub mod language;
pub mod option_values;
pub mod regex_source;
pub mod size;
pub mod sort;
pub mod suggest;
pub mod sync;
pub mod threads;
pub mod words;
