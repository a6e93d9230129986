//! Errors with stable codes.
//!
//! A code never changes once released, because callers compare it. A message names the field, the value received and
//! the values allowed, and never quotes the content of an output.

use std::any::Any;
use std::fmt;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Kinds of errors. Their names are public: `SpillwayError.code` in TypeScript.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Code {
    /// A setting is invalid.
    InvalidConfig,
    /// An argument of a call is invalid.
    InvalidArgument,
    /// The file could be written to none of the directories.
    StorageWrite,
    /// The file could not be read.
    StorageRead,
    /// The path is not one of the store's own files.
    StorageNotOwned,
    /// The file does not exist any more, usually because it was swept.
    StorageNotFound,
    /// The file is too large to become one string.
    StorageTooLarge,
    /// A bug in Spillway.
    Internal,
}

impl Code {
    /// Returns the public name of the code.
    pub fn as_str(self) -> &'static str {
        match self {
            Code::InvalidConfig => "INVALID_CONFIG",
            Code::InvalidArgument => "INVALID_ARGUMENT",
            Code::StorageWrite => "STORAGE_WRITE",
            Code::StorageRead => "STORAGE_READ",
            Code::StorageNotOwned => "STORAGE_NOT_OWNED",
            Code::StorageNotFound => "STORAGE_NOT_FOUND",
            Code::StorageTooLarge => "STORAGE_TOO_LARGE",
            Code::Internal => "INTERNAL",
        }
    }
}

/// An error with its code and, where there is one, the field that it is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    pub code: Code,
    /// The message for a person.
    pub message: String,
    /// Path of the invalid setting or argument, such as `tools.bash.maxLines`.
    pub field: Option<String>,
}

/// The result of a fallible operation of the core.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// Makes an error that is not about a field.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Error { code, message: message.into(), field: None }
    }

    /// Makes an error about one field. `problem` reads `expected …, received …` where a value is wrong.
    pub fn field(code: Code, field: impl Into<String>, problem: impl fmt::Display) -> Self {
        let field = field.into();
        let message = match code {
            Code::InvalidConfig | Code::InvalidArgument => {
                format!("Invalid option \"{}\": {problem}", option_name(&field))
            }
            _ => format!("{field}: {problem}"),
        };
        Error { code, message, field: Some(field) }
    }
}

/// The name of an option as its caller writes it: `field` without the `options.` of an argument.
pub(crate) fn option_name(field: &str) -> &str {
    field.strip_prefix("options.").unwrap_or(field)
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code.as_str(), self.message)
    }
}

impl std::error::Error for Error {}

/// Runs `work`. A panic in it becomes an error: it must never end the process of the host.
pub fn catch_panic<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(work))
        .unwrap_or_else(|panic| Err(Error::new(Code::Internal, describe(&*panic))))
}

fn describe(panic: &(dyn Any + Send)) -> String {
    let text = panic
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| panic.downcast_ref::<&str>().copied());
    format!("panicked: {}", text.unwrap_or("no message"))
}

/// Formats an error of the operating system the way people search for it: `ENOSPC: no space left on device`.
pub fn os_reason(error: &io::Error) -> String {
    #[cfg(unix)]
    if let Some(name) = error.raw_os_error().and_then(errno_name) {
        let text = error.to_string();
        let text = text.split(" (os error").next().unwrap_or(&text).to_lowercase();
        return format!("{name}: {text}");
    }
    error.to_string()
}

#[cfg(unix)]
fn errno_name(raw: i32) -> Option<&'static str> {
    use rustix::io::Errno;
    let table = [
        (Errno::ACCESS, "EACCES"),
        (Errno::BUSY, "EBUSY"),
        (Errno::DQUOT, "EDQUOT"),
        (Errno::EXIST, "EEXIST"),
        (Errno::FBIG, "EFBIG"),
        (Errno::INTR, "EINTR"),
        (Errno::INVAL, "EINVAL"),
        (Errno::IO, "EIO"),
        (Errno::ISDIR, "EISDIR"),
        (Errno::LOOP, "ELOOP"),
        (Errno::MFILE, "EMFILE"),
        (Errno::NAMETOOLONG, "ENAMETOOLONG"),
        (Errno::NFILE, "ENFILE"),
        (Errno::NODEV, "ENODEV"),
        (Errno::NOENT, "ENOENT"),
        (Errno::NOMEM, "ENOMEM"),
        (Errno::NOSPC, "ENOSPC"),
        (Errno::NOTDIR, "ENOTDIR"),
        (Errno::NOTSUP, "ENOTSUP"),
        (Errno::NXIO, "ENXIO"),
        (Errno::PERM, "EPERM"),
        (Errno::ROFS, "EROFS"),
        (Errno::STALE, "ESTALE"),
        (Errno::TXTBSY, "ETXTBSY"),
        (Errno::XDEV, "EXDEV"),
    ];
    table.iter().find(|(errno, _)| errno.raw_os_error() == raw).map(|(_, name)| *name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_error_names_the_field_first() {
        let error =
            Error::field(Code::InvalidConfig, "global.maxLines", "expected 1 or more, received 0");
        assert_eq!(
            error.message,
            "Invalid option \"global.maxLines\": expected 1 or more, received 0"
        );
        assert_eq!(error.field.as_deref(), Some("global.maxLines"));
    }

    #[test]
    fn a_panic_is_an_error_of_the_call() {
        let planted: [Box<dyn Any + Send>; 3] =
            [Box::new("planted"), Box::new("planted".to_owned()), Box::new(1)];
        let messages = planted.map(|panic| {
            let error = catch_panic::<()>(|| std::panic::resume_unwind(panic)).unwrap_err();
            assert_eq!(error.code, Code::Internal);
            error.message
        });
        assert_eq!(messages, ["panicked: planted", "panicked: planted", "panicked: no message"]);
        assert_eq!(catch_panic(|| Ok(1)), Ok(1));
    }

    #[cfg(unix)]
    #[test]
    fn system_errors_carry_their_symbol() {
        let error = io::Error::from_raw_os_error(28);
        assert!(os_reason(&error).starts_with("ENOSPC: "), "{}", os_reason(&error));
    }
}
