//! The commands that destroy the machine or a home, end it or lock it.
//!
//! | module | contents |
//! | --- | --- |
//! | [`destroyed_places`] | the places that a word may name |
//! | [`destroying_commands`] | commands that destroy the machine or a home, in any spelling |
//! | [`destroying_input`] | destructive input of `xargs` and `parallel` |
//! | [`destroying_code`] | destructive calls in code of other languages |
//! | [`destroyer_names`] | programs that can destroy a place, by name |
//! | [`destroying_checkouts`] | destructive commands of git, Mercurial, Subversion and Jujutsu |
//! | [`destroying_programs`], [`destroying_searches`], [`disk_writers`] | programs that destroy their operands |
//! | [`copying_programs`] | removals by `rsync` and `rclone` |
//! | [`windows_programs`] | destructive commands of Windows |
//! | [`ending_programs`] | programs that end all processes or the machine |
//! | [`essential_packages`] | packages that a system needs |
//! | [`locking_commands`] | commands that lock users out or stop services |
//! | [`fork_bombs`] | fork bombs |

mod copying_programs;
pub(super) mod destroyed_places;
pub(super) mod destroyer_names;
pub(super) mod destroying_checkouts;
pub(super) mod destroying_code;
pub(super) mod destroying_commands;
pub(super) mod destroying_input;
pub(super) mod destroying_programs;
pub(super) mod destroying_searches;
pub(super) mod disk_writers;
pub(super) mod ending_programs;
pub(super) mod essential_packages;
pub(super) mod fork_bombs;
pub(super) mod locking_commands;
pub(super) mod windows_programs;
