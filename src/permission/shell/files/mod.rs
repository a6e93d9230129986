//! Which files a command reads, finds and changes.
//!
//! | module | contents |
//! | --- | --- |
//! | [`found_files`] | files that `find` and `fd` select |
//! | [`whole_folders`] | folders that a command shows or copies whole |
//! | [`changed_files`] | files and folders that a command may change |
//! | [`edited_files`] | files that a program changes in place |
//! | [`copied_files`] | files that a program copies, moves or links into a folder |
//! | [`used_files`] | operands of a program that are files |

pub(super) mod changed_files;
pub(super) mod copied_files;
pub(super) mod edited_files;
pub(super) mod found_files;
pub(super) mod used_files;
pub(super) mod whole_folders;
