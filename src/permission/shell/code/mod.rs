//! Code in other languages that a command gives a program.
//!
//! | module | what it decides |
//! | --- | --- |
//! | [`code_text`] | the words, calls, brackets and tokens of code in other languages |
//! | [`paths_in_code`] | which paths code has, and which of them are protected |
//! | [`functions_in_code`] | which functions, callbacks and loops of code give values on |
//! | [`values_in_code`] | which names of code can be a path that must not be removed |
//! | [`forks_in_code`] | which code starts programs without end |
//! | [`removing_calls`] | which calls in code remove or replace files |
//! | [`names_in_code`] | what may be names of files in code |
//! | [`given_code`] | what code in words, input and written files runs and reads |
//! | [`reading_words`] | which words say that a file is only read |

pub(super) mod code_text;
pub(super) mod forks_in_code;
mod functions_in_code;
pub(super) mod given_code;
pub(super) mod names_in_code;
pub(super) mod paths_in_code;
pub(super) mod reading_words;
pub(super) mod removing_calls;
pub(super) mod values_in_code;
