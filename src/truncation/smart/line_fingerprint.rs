//! Fingerprints that are equal for lines which differ only in numbers, paths and quoted names.

/// Bytes of a line that its template is made of.
const LOOKED_AT: usize = 256;

/// A line without what changes from one repetition to the next, as a number. Digits, what is quoted, and
/// words with a slash in them count as one and the same, and so do addresses (`0x7f1b`).
pub(crate) fn template(line: &[u8]) -> u64 {
    let line = line.get(..LOOKED_AT).unwrap_or(line);
    let mut all = Hash::default();
    for word in line.split(|byte| byte.is_ascii_whitespace()).filter(|word| !word.is_empty()) {
        all.add(b' ');
        if word.contains(&b'/') || word.contains(&b'\\') {
            all.add(b'/');
            // The text after a path and a place in it says more than the place.
            continue;
        }
        let (mut in_number, mut in_address) = (false, false);
        for &byte in word {
            let is_digit = byte.is_ascii_digit();
            in_address = byte.is_ascii_hexdigit() && in_address || byte == b'x' && in_number;
            if !(in_address && byte != b'x' || is_digit && in_number) {
                all.add(if is_digit { b'0' } else { byte });
            }
            in_number = is_digit;
        }
    }
    all.0
}

/// Returns the part of a line that says what failed: the error of a traced system call, whatever its arguments were, so that one
/// rare error is not one of many. The whole line if it traces none, or a search for a file, which is known by its path.
pub(crate) fn what_failed(line: &[u8]) -> &[u8] {
    let error = memchr::memmem::rfind(line, b" = -1 E").and_then(|at| line.get(at..));
    error.filter(|error| !error.starts_with(b" = -1 ENOENT")).unwrap_or(line)
}

/// A line as [`template`] reads it, without the names between quotes.
pub(crate) fn without_names(line: &[u8], out: &mut Vec<u8>) {
    out.clear();
    let mut rest = line.get(..LOOKED_AT).unwrap_or(line);
    while let Some((&byte, after)) = rest.split_first() {
        out.push(byte);
        rest = after;
        if let Some(end) = end_of_name(byte, after) {
            out.push(byte);
            rest = after.get(end..).unwrap_or_default();
        }
    }
}

/// Curly quotes in UTF-8, the opening one without its first byte, and the closing one.
const CURLY: [([u8; 2], &str); 2] = [([0x80, 0x98], "’"), ([0x80, 0x9c], "”")];

/// Returns where the text after a quote, whose first byte is `byte`, continues after the closing one.
fn end_of_name(byte: u8, after: &[u8]) -> Option<usize> {
    match byte {
        b'\'' | b'"' | b'`' => Some(memchr::memchr(byte, after)? + 1),
        0xe2 => {
            let (_, close) = CURLY.iter().find(|(open, _)| after.starts_with(open))?;
            Some(memchr::memmem::find(after, close.as_bytes())? + close.len())
        }
        _ => None,
    }
}

#[derive(Clone, Copy)]
struct Hash(u64);

impl Default for Hash {
    fn default() -> Self {
        Hash(0xcbf2_9ce4_8422_2325)
    }
}

impl Hash {
    fn add(&mut self, byte: u8) {
        self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(line: &str) -> u64 {
        let mut out = Vec::new();
        without_names(line.as_bytes(), &mut out);
        template(&out)
    }

    #[test]
    fn failed_calls_differ_by_their_error() {
        let of = |line: &str| of(&String::from_utf8_lossy(what_failed(line.as_bytes())));
        let again = of("read(4, 0x7f11, 1024) = -1 EAGAIN (Resource temporarily unavailable)");
        assert_eq!(
            again,
            of("12 accept4(5, 0x7ffd, [128]) = -1 EAGAIN (Resource temporarily unavailable)")
        );
        assert_ne!(again, of("rename(\"/x\", \"/y\") = -1 EXDEV (Invalid cross-device link)"));
        let missing = of("stat(\"/x\", 0x7ffe) = -1 ENOENT (No such file or directory)");
        assert_ne!(missing, of("access(\"/x\", R_OK) = -1 ENOENT (No such file or directory)"));
    }

    #[test]
    fn numbers_paths_and_names_do_not_tell_lines_apart() {
        assert_eq!(of("a/b.c:1: error: no 'x'"), of("c/d/e.c:22: error: no 'yy'"));
        assert_eq!(of("  7:17  error  Missing space"), of(" 12:3 error Missing space"));
        assert_eq!(of("unused ‘ht’ of “a b” here"), of("unused ‘k’ of “c” here"));
        assert_eq!(of("<A object at 0x7f1b461f0a90>: x"), of("<A object at 0x55aa0>: x"));
        assert_ne!(of("face 0xfeed bad"), of("face 0xfeed bed"));
        assert_ne!(of("unused ‘ht’"), of("useless ‘ht’"));
        assert_ne!(of("error: no 'x'"), of("error: not 'x'"));
        assert_ne!(of("it's"), of("it"));
    }
}
