use super::*;
use proptest::prelude::*;

fn found(text: &[u8], pieces: usize) -> Vec<(u64, u64, u16, Vec<u8>)> {
    let query = Query::new("something compiling");
    let mut scanner = Scanner::new(Rules::built_in(), query);
    for piece in text.chunks(pieces.max(1)) {
        scanner.push(piece);
    }
    let Found { findings, asked, .. } = scanner.findings();
    let matches = asked.unwrap().1.0;
    findings
        .into_iter()
        .chain(matches)
        .map(|it| (it.line, it.start, it.less, it.text.to_vec()))
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn what_is_found_does_not_depend_on_the_pieces(
        lines in prop::collection::vec((0usize..6, 0usize..40), 0..400),
        piece in 1usize..200_000,
    ) {
        let mut text = Vec::new();
        for (kind, length) in lines {
            text.extend_from_slice(match kind {
                0 => b"error: something is wrong in ".as_slice(),
                1 => b"    at f (x.js:1:2) ",
                2 => b"Traceback (most recent call last): ",
                3 => b"\x1b[31mFAIL\x1b[0m ",
                _ => b"compiling ",
            });
            let length = if length == 39 { 20_000 } else { length };
            text.extend(std::iter::repeat_n(b'x', length));
            text.push(b'\n');
        }
        let whole = found(&text, usize::MAX);
        prop_assert_eq!(&whole, &found(&text, piece));
        let lines: Vec<&[u8]> = text.split(|byte| *byte == b'\n').collect();
        for (line, start, _, kept) in whole {
            let line = lines[line as usize - 1];
            prop_assert_eq!(&kept[..], &line[..line.len().min(MAX_LENGTH)]);
            prop_assert!(text[start as usize..].starts_with(line));
        }
    }
}
