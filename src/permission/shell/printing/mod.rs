//! The output of commands, as far as it is known before they run.
//!
//! | module | what it decides |
//! | --- | --- |
//! | [`printed_text`], [`listed_names`] | what a command prints |
//! | [`printed_environment`] | which commands and code print variables that hold secrets |
//! | [`printed_secrets`] | which commands print secrets without naming their file |
//! | [`printed_form`] | whether a command prints a listing or a diff |
//! | [`printed_files`] | which files a command prints that does nothing else, and which lines |
//! | [`sed_output`] | what `sed` makes of a known text |

pub(super) mod listed_names;
pub(super) mod printed_environment;
pub(super) mod printed_files;
pub(super) mod printed_form;
pub(super) mod printed_secrets;
pub(super) mod printed_text;
pub(super) mod sed_output;
