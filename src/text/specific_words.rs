//! Finds the words of a text that name something: paths, identifiers, numbers.

/// Minimum length of a word in bytes.
const MIN_WORD: usize = 8;

/// Classes of bytes.
const WORD: u8 = 1;
const DIGIT_OR_SIGN: u8 = 1 << 1;
const LOWER: u8 = 1 << 2;
const UPPER: u8 = 1 << 3;
/// Class of a word, not of a byte: an upper-case letter follows a lower-case one.
const CAMEL: u8 = 1 << 4;

static CLASSES: [u8; 256] = {
    let mut classes = [0; 256];
    let mut byte = 0;
    while byte < classes.len() {
        classes[byte] = match byte as u8 {
            b'a'..=b'z' => WORD | LOWER,
            b'A'..=b'Z' => WORD | UPPER,
            b'0'..=b'9' | b'_' | b'.' | b'/' | b':' => WORD | DIGIT_OR_SIGN,
            b'$' | b'@' | b'#' | b'%' | b'+' | b'~' | b'\\' | b'-' => WORD,
            _ => 0,
        };
        byte += 1;
    }
    classes
};

/// Calls `found` with each word that names something: at least 8 bytes, with a digit, one of `_./:`, or an upper-case
/// letter after a lower-case one. In `escaped` text, such as JSON, `\n` ends a word. A byte beyond ASCII ends a word in
/// every encoding, so the text may be Latin-1 as well as UTF-8.
pub fn specific_words<'a>(text: &'a [u8], escaped: bool, found: &mut dyn FnMut(&'a str)) {
    let mut from = 0;
    let mut at = 0;
    let (mut classes, mut last) = (0, 0);
    while at <= text.len() {
        let byte = text.get(at).copied().unwrap_or(b' ');
        let class = CLASSES[usize::from(byte)];
        let escape = escaped && byte == b'\\';
        if class != 0 && !escape {
            classes |= class | if last & LOWER != 0 && class & UPPER != 0 { CAMEL } else { 0 };
            last = class;
            at += 1;
            continue;
        }
        if at - from >= MIN_WORD
            && classes & (DIGIT_OR_SIGN | CAMEL) != 0
            && let Some(word) = text.get(from..at).and_then(|run| str::from_utf8(run).ok())
        {
            let word = trimmed(word);
            if word.len() >= MIN_WORD && is_specific(word.as_bytes()) {
                found(word);
            }
        }
        at += if escape { 2 } else { 1 };
        from = at;
        (classes, last) = (0, 0);
    }
}

/// A word without punctuation around it. The slash that begins an absolute path is part of it.
fn trimmed(word: &str) -> &str {
    let word = word.trim_end_matches(['.', '/', ':', '-']);
    let path = word.trim_start_matches([':', '-']);
    match path.strip_prefix('/') {
        Some(rest) if !rest.starts_with(['/', '.', ':', '-']) => path,
        _ => word.trim_start_matches(['.', '/', ':', '-']),
    }
}

fn is_specific(word: &[u8]) -> bool {
    word.iter().any(|&byte| CLASSES[usize::from(byte)] & DIGIT_OR_SIGN != 0) || is_camel(word)
}

/// Returns true if an upper-case letter follows a lower-case one.
pub fn is_camel(word: &[u8]) -> bool {
    word.windows(2)
        .any(|pair| matches!(pair, [a, b] if a.is_ascii_lowercase() && b.is_ascii_uppercase()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &[u8], escaped: bool) -> Vec<&str> {
        let mut all = Vec::new();
        specific_words(text, escaped, &mut |word| all.push(word));
        all
    }

    #[test]
    fn words_are_specific() {
        let text = b"see src/app/main.rs:12, parseConfig() and load_all_files. Nothing-else! a1 12345678 ...abcdefgh... ABCDEFGHi";
        let expected = ["src/app/main.rs:12", "parseConfig", "load_all_files", "12345678"];
        assert_eq!(found(text, false), expected);
        assert_eq!(
            found(br#"{"new":"one_word_here\ntwo_words_here"}"#, true),
            ["one_word_here", "two_words_here"]
        );
        assert_eq!(found(br"C:\project\file", false), [r"C:\project\file"]);
    }

    #[test]
    fn an_absolute_path_keeps_its_slash() {
        let text = b"/tmp/build.log: (/etc/app/x.conf) ./src/a/b.ts ../src/c/d.ts //src/e/f.ts -/var/log/all/ file:///x/y.txt";
        let expected = [
            "/tmp/build.log",
            "/etc/app/x.conf",
            "src/a/b.ts",
            "src/c/d.ts",
            "src/e/f.ts",
            "/var/log/all",
            "file:///x/y.txt",
        ];
        assert_eq!(found(text, false), expected);
    }

    #[test]
    fn a_byte_beyond_ascii_ends_a_word_in_every_encoding() {
        assert_eq!(found("größere_dateien_überall".as_bytes(), false), ["ere_dateien_"]);
        assert_eq!(found(b"gr\xf6\xdfere_dateien_\xfcberall", false), ["ere_dateien_"]);
    }
}
