//! The commands that destroy the machine or a home, end it or lock it.
//!
//! | module | what it decides |
//! | --- | --- |
//! | [`destroyed_places`] | which places a word names where that decides if the machine is destroyed |
//! | [`destroying_commands`] | what destroys the machine or a home, however it is spelled |
//! | [`destroying_input`] | what `xargs` and `parallel` destroy with their input |
//! | [`destroying_code`] | what code of other languages destroys |
//! | [`destroyer_names`] | which programs can destroy a place, by name |
//! | [`destroying_checkouts`] | which commands of git, Mercurial, Subversion and Jujutsu destroy what is not theirs |
//! | [`destroying_programs`], [`destroying_searches`], [`disk_writers`] | which programs destroy what their arguments name |
//! | [`copying_programs`] | what `rsync` and `rclone` remove |
//! | [`windows_programs`] | which commands of Windows destroy the machine |
//! | [`ending_programs`] | which programs end all processes or the machine |
//! | [`essential_packages`] | which packages a system needs |
//! | [`locking_commands`] | which commands lock users out or end what runs |
//! | [`fork_bombs`] | what starts itself again without an end |

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
