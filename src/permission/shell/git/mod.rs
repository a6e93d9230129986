//! The language of git: its commands, settings, patterns and helpers.
//!
//! | module | what it decides |
//! | --- | --- |
//! | [`git_commands`] | which commands of git can run something or write somewhere else, and which files they name |
//! | [`git_pathspecs`] | which files a pattern of git means |
//! | [`git_settings`] | which settings git takes from variables |
//! | [`git_helpers`] | which commands git runs for its settings, options and addresses |

pub(super) mod git_commands;
pub(super) mod git_helpers;
pub(super) mod git_pathspecs;
pub(super) mod git_settings;
