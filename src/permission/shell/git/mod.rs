//! The language of git: its commands, settings, patterns and helpers.
//!
//! | module | contents |
//! | --- | --- |
//! | [`git_commands`] | commands of git that run programs or write elsewhere, and the files that they name |
//! | [`git_pathspecs`] | the files that a pattern of git matches |
//! | [`git_settings`] | settings that git takes from variables |
//! | [`git_helpers`] | commands that git runs for its settings, options and addresses |

pub(super) mod git_commands;
pub(super) mod git_helpers;
pub(super) mod git_pathspecs;
pub(super) mod git_settings;
