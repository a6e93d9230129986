//! Code in other languages that a command gives a program.
//!
//! | module | contents |
//! | --- | --- |
//! | [`code_text`] | the words, calls, brackets and tokens of code in other languages |
//! | [`paths_in_code`] | paths in code, and the protected ones among them |
//! | [`functions_in_code`] | functions, callbacks and loops of code that pass values on |
//! | [`values_in_code`] | variables of code that may hold a path that must not be removed |
//! | [`forks_in_code`] | code that starts programs without end |
//! | [`removing_calls`] | calls in code that remove or replace files |
//! | [`names_in_code`] | words of code that may be names of files |
//! | [`given_code`] | the effects of code in words, input and written files |
//! | [`reading_words`] | words after which a file is only read |

pub(super) mod code_text;
pub(super) mod forks_in_code;
mod functions_in_code;
pub(super) mod given_code;
pub(super) mod names_in_code;
pub(super) mod paths_in_code;
pub(super) mod reading_words;
pub(super) mod removing_calls;
pub(super) mod values_in_code;
