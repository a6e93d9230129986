//! Detects binary output by its first bytes, so that it is described instead of shown.

/// Number of bytes examined.
const LOOKED_AT: usize = 4096;
/// Maximum percentage of malformed bytes in text.
const MAX_BAD_PERCENT: usize = 10;

/// Magic numbers and the names of their formats.
static KINDS: &[(&[u8], &str)] = &[
    (b"\x7fELF", "ELF"),
    (b"MZ", "PE"),
    (b"\xfe\xed\xfa\xce", "Mach-O"),
    (b"\xfe\xed\xfa\xcf", "Mach-O"),
    (b"\xcf\xfa\xed\xfe", "Mach-O"),
    (b"\xca\xfe\xba\xbe", "Java class"),
    (b"\0asm", "WebAssembly"),
    (b"\x89PNG\r\n\x1a\n", "PNG"),
    (b"\xff\xd8\xff", "JPEG"),
    (b"GIF8", "GIF"),
    (b"RIFF", "RIFF"),
    (b"%PDF-", "PDF"),
    (b"PK\x03\x04", "ZIP"),
    (b"PK\x05\x06", "ZIP"),
    (b"\x1f\x8b", "gzip"),
    (b"BZh", "bzip2"),
    (b"\xfd7zXZ\0", "xz"),
    (b"\x28\xb5\x2f\xfd", "Zstandard"),
    (b"7z\xbc\xaf\x27\x1c", "7z"),
    (b"SQLite format 3\0", "SQLite"),
    (b"!<arch>\n", "ar"),
    (b"OggS", "Ogg"),
    (b"ID3", "MP3"),
    (b"fLaC", "FLAC"),
    (b"wOF2", "WOFF2"),
    (b"\0\x01\0\0\0", "TrueType"),
];

/// Returns the kind of binary data, empty if it is unknown, or `None` for text.
pub fn kind(head: &[u8]) -> Option<&'static str> {
    let head = head.get(..LOOKED_AT).unwrap_or(head);
    // Zip files and programs are full of NUL bytes; so is UTF-16, which a reader of UTF-8 cannot display either.
    let has_nul = memchr::memchr(0, head).is_some();
    if !has_nul && bad_bytes(head) * 100 <= head.len() * MAX_BAD_PERCENT {
        return None;
    }
    let known = KINDS.iter().find(|(magic, _)| head.starts_with(magic));
    Some(known.map_or("", |(_, kind)| kind))
}

/// Counts bytes that belong to no character, and U+FFFD that replaced such bytes.
fn bad_bytes(head: &[u8]) -> usize {
    let invalid: usize = head
        .utf8_chunks()
        .map(|chunk| chunk.invalid().len() + 3 * chunk.valid().matches('\u{fffd}').count())
        .sum();
    let controls = head.iter().filter(|byte| matches!(byte, 1..=6 | 0x0e..=0x1a | 0x1c..=0x1f));
    invalid + controls.count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_in_any_script_is_text_and_programs_are_not() {
        let text = [
            "",
            "plain\n",
            "\u{1b}[31mred\u{1b}[0m\r\n",
            "你好，世界\n",
            "\u{fffd} once in a long line of text",
            "a\u{8}b\tc",
        ];
        for text in text {
            assert_eq!(kind(text.as_bytes()), None, "{text:?}");
        }
        assert_eq!(kind(b"\x7fELF\x02\x01\x01\0\0\0\0"), Some("ELF"));
        assert_eq!(kind(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"), Some("PNG"));
        assert_eq!(kind(b"a\0b\0c\0"), Some(""));
        assert_eq!(kind("\u{fffd}\u{fffd}\u{fffd}x".as_bytes()), Some(""));
        // A character that the end of the sample splits is not malformed.
        let long = "好".repeat(2000);
        assert_eq!(kind(long.as_bytes()), None);
    }
}
