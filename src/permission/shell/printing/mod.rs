//! The output of commands, as far as it is known before they run.
//!
//! | module | contents |
//! | --- | --- |
//! | [`printed_text`], [`listed_names`] | the text that a command prints |
//! | [`printed_environment`] | commands and code that print variables with secrets |
//! | [`printed_secrets`] | commands that print secrets without naming their file |
//! | [`printed_form`] | commands that print a listing or a diff |
//! | [`printed_files`] | files and line ranges that a command prints and does nothing else |
//! | [`sed_output`] | the output of `sed` for a known text |

pub(super) mod listed_names;
pub(super) mod printed_environment;
pub(super) mod printed_files;
pub(super) mod printed_form;
pub(super) mod printed_secrets;
pub(super) mod printed_text;
pub(super) mod sed_output;
