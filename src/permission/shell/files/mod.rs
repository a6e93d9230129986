//! Which files a command reads, finds and changes.
//!
//! | module | what it decides |
//! | --- | --- |
//! | [`found_files`] | which files `find` and `fd` select |
//! | [`whole_folders`] | of which folders a command shows or copies everything |
//! | [`changed_files`] | which files and folders a command may change |
//! | [`edited_files`] | which files a program changes in place |
//! | [`copied_files`] | which files it copies, moves or links into a folder |
//! | [`used_files`] | which of its operands are files |

pub(super) mod changed_files;
pub(super) mod copied_files;
pub(super) mod edited_files;
pub(super) mod found_files;
pub(super) mod used_files;
pub(super) mod whole_folders;
