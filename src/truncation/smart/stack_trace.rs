//! Recognizes lines of a stack trace: continuations of the line before, and frames of the user or of a library.

use memchr::memchr;

/// Spaces and tabs that a line begins with.
pub(super) fn indent(line: &[u8]) -> usize {
    line.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count()
}

/// A line that continues the one before although it is not indented.
pub(super) fn is_continuation(line: &[u8]) -> bool {
    let first = line.first().copied().unwrap_or_default();
    matches!(first, b'|' | b'>' | b'#' | b'+' | b'~' | b'^' | b'}' | b')' | b']' | b'=')
        || line.starts_with(b"E ")
        || line.starts_with(b"at ")
        || line.starts_with("\u{2502}".as_bytes())
        || line.starts_with(b"goroutine ")
        || line.ends_with(b")") && memchr(b'.', line).is_some() && !line.contains(&b' ')
}

/// Whose code a frame of a trace is in.
pub(super) enum Owner {
    User,
    Library,
}

static LIBRARIES: [&[u8]; 24] = [
    b"node_modules/",
    b"node:",
    b"<anonymous>",
    b"site-packages/",
    b"dist-packages/",
    b"/lib/python",
    b"<frozen ",
    b"/rustc/",
    b".cargo/registry",
    b"std::",
    b"core::",
    b"alloc::",
    b"java.",
    b"jdk.",
    b"sun.",
    b"org.junit",
    b"org.apache.",
    b"org.springframework",
    b"/usr/lib/",
    b"/usr/local/go/",
    b"/go/pkg/mod/",
    b"/vendor/",
    b"in /usr/",
    b"internal/",
];

/// Returns the owner of the frame that a line is, if it is a frame of a stack trace.
pub(super) fn frame(line: &[u8]) -> Option<Owner> {
    let text = line.get(indent(line)..).unwrap_or_default();
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let is_frame = [b"at ".as_slice(), b"File \"", b"from ", b"by 0x", b"at 0x", b"#"]
        .iter()
        .any(|start| text.starts_with(start))
        || text.starts_with("\u{276f} ".as_bytes())
        || (digits > 0 && text.get(digits..).is_some_and(|rest| rest.starts_with(b": ")));
    if !is_frame {
        return None;
    }
    let is_library = LIBRARIES.iter().any(|library| memchr::memmem::find(text, library).is_some());
    Some(if is_library { Owner::Library } else { Owner::User })
}
