//! Detects a passage that one answer repeats.
//!
//! The answer is read as a stream of characters in which white space is one blank and a number one digit. Wherever the
//! last [`CHUNK`] characters were seen before, the distance to that position is a period; while each character is the one
//! a period before, the text repeats. Each character costs one comparison or one table lookup, so the time is linear.
//!
//! Lists, tables, code and data repeat for good reasons. Their lines are part of the stream with the numbers as they are,
//! but a period counts only if enough of it is prose. A whole sentence is prose anywhere, in a block of code, too.

use std::collections::HashMap;

use super::signature::words;

/// Number of characters that must match to find an earlier occurrence.
const CHUNK: usize = 50;

/// Minimum number of occurrences, the first one included.
const TIMES: usize = 10;

/// Minimum length of a repetition in characters.
const MIN_LENGTH: usize = 400;

/// Maximum number of characters read of an answer, from its end: a repetition does not stop.
const MAX_LENGTH: usize = 200_000;

/// Minimum number of prose letters in a period.
const LETTERS: usize = 2;

/// Minimum number of words of a sentence.
const SENTENCE_WORDS: usize = 5;

/// Minimum number of letters of a sentence in a script without blanks between words.
const SENTENCE_LETTERS: usize = 10;

/// A repeated passage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repetition {
    /// Number of occurrences, the first one included.
    pub count: u64,
    /// Hash of the passage.
    pub subject: String,
}

/// A character of the stream.
#[derive(Debug, Clone, Copy)]
struct Letter {
    letter: char,
    /// True for a letter of a sentence, or outside of lists, tables, code and data.
    prose: bool,
}

/// Returns the longest repetition of the answer, if there is one.
pub fn repetition(text: &str) -> Option<Repetition> {
    let stream = stream(text);
    let stream = stream.get(stream.len().saturating_sub(MAX_LENGTH)..)?;
    if stream.len() < MIN_LENGTH {
        return None;
    }
    // A rolling hash, which moves on by one character in constant time.
    const BASE: u64 = 0x0100_0000_01b3;
    let leaving = (1..CHUNK).fold(1_u64, |power, _| power.wrapping_mul(BASE));
    let mut hash = 0_u64;
    let mut places: HashMap<u64, usize> = HashMap::with_capacity(stream.len());
    let (mut period, mut run, mut prose) = (0, 0, 0);
    let mut best: Option<(usize, usize, usize)> = None;
    for (at, each) in stream.iter().enumerate() {
        if let Some(old) = at.checked_sub(CHUNK).and_then(|old| stream.get(old)) {
            hash = hash.wrapping_sub(u64::from(old.letter).wrapping_add(1).wrapping_mul(leaving));
        }
        hash = hash.wrapping_mul(BASE).wrapping_add(u64::from(each.letter).wrapping_add(1));
        if at + 1 < CHUNK {
            continue;
        }
        let before = places.insert(hash, at);
        // A passage with much the same words in it was seen nearer by, so the distance to the last one does not count here.
        let goes_on = period > 0
            && at
                .checked_sub(period)
                .and_then(|old| stream.get(old))
                .is_some_and(|old| old.letter == each.letter);
        if !goes_on {
            (period, run, prose) = (before.map_or(0, |before| at - before), 0, 0);
        }
        run += 1;
        prose += usize::from(each.prose);
        let is_prose = prose * period >= LETTERS * run && prose * 3 >= run;
        if period > 0
            && run >= (TIMES - 1) * period
            && run + CHUNK >= MIN_LENGTH
            && is_prose
            && best.is_none_or(|(longest, ..)| run > longest)
        {
            best = Some((run, period, at + 1));
        }
    }
    let (run, period, end) = best?;
    let passage = stream.get(end.checked_sub(period)?..end)?;
    let passage: String = passage.iter().map(|each| each.letter).collect();
    // The first occurrence is where the others are found.
    let count = ((run + CHUNK - 1) / period + 1) as u64;
    Some(Repetition { count, subject: words(&passage) })
}

/// Returns the characters of an answer.
fn stream(text: &str) -> Vec<Letter> {
    let mut stream: Vec<Letter> = Vec::with_capacity(text.len());
    let mut fenced = false;
    for line in text.lines() {
        let trimmed = line.trim();
        let is_fence = trimmed.starts_with("```") || trimmed.starts_with("~~~");
        let is_plain = !fenced && !is_fence && is_plain(line, trimmed);
        let prose = is_plain || is_sentence(trimmed);
        fenced ^= is_fence;
        for letter in trimmed.chars().chain(std::iter::once(' ')) {
            let letter = if letter.is_whitespace() { ' ' } else { letter };
            let letter = if letter.is_ascii_digit() && is_plain { '0' } else { letter };
            let repeats = stream.last().is_some_and(|last| last.letter == letter);
            if repeats && (letter == ' ' || (letter == '0' && is_plain)) {
                continue;
            }
            stream.push(Letter { letter, prose: prose && letter.is_alphabetic() });
        }
    }
    stream
}

/// Returns true unless a line is an item of a list, a row of a table, or a line of code or data.
fn is_plain(line: &str, trimmed: &str) -> bool {
    let marked = ["- ", "* ", "+ ", "|", "#", ">", "{", "[", "}", "]", "<", "//", "$ ", "at "];
    let ends = [';', '{', '}', ',', '|'];
    let numbered = trimmed.trim_start_matches(|c: char| c.is_ascii_digit());
    let is_numbered = numbered.len() < trimmed.len()
        && numbered.starts_with(['.', ')', ':', '\t', '|', ',', ';', '-', '/']);
    let is_indented = line.starts_with('\t') || line.starts_with("    ");
    !(is_numbered
        || is_indented
        || is_code(trimmed)
        || is_row(trimmed)
        || trimmed.contains('\t')
        || trimmed.ends_with(ends)
        || marked.iter().any(|mark| trimmed.starts_with(mark)))
}

/// Returns true if a tenth of a line or more are brackets and operators.
fn is_code(line: &str) -> bool {
    let marks = line.bytes().filter(|byte| b"(){}[]<>=;_".contains(byte)).count();
    marks > 0 && marks * 10 >= line.len()
}

/// Returns true for values between commas, of which one is a number.
fn is_row(line: &str) -> bool {
    let is_number = |field: &str| {
        field.contains(|c: char| c.is_ascii_digit())
            && field.trim().chars().all(|c| c.is_ascii_digit() || "-+.:/%".contains(c))
    };
    line.split(',').count() > 2 && line.split(',').any(is_number)
}

/// Returns true for a line of words and nothing else. Numbers are no words: they tell the lines of data apart.
fn is_sentence(line: &str) -> bool {
    let (mut all, mut said, mut wide) = (0, 0, 0);
    for letter in line.chars() {
        all += 1;
        let is_word = letter.is_alphabetic() || letter.is_whitespace();
        said += usize::from(is_word || ",.:!?'’\"-—…，。、：！？“”".contains(letter));
        wide += usize::from(letter.is_alphabetic() && !letter.is_ascii());
    }
    let is_long = line.split_whitespace().nth(SENTENCE_WORDS - 1).is_some();
    (is_long || wide >= SENTENCE_LETTERS) && said * 20 >= all * 19
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_passage_that_is_said_again_and_again() {
        let passage = "Let me look at the file once more, because the test still fails. ";
        for text in [
            passage.repeat(200),
            format!("I begin.\n{}", format!("{passage}\n\n").repeat(40)),
            (0..60).map(|n| format!("Attempt {n}: I will try again now.\n")).collect(),
            format!("{}\n", passage.repeat(30)).repeat(20),
            "再次检查文件，因为测试仍然失败，我需要看一下。".repeat(40),
            format!("{passage}\n- one\n- two\n\n").repeat(40),
            format!("```\n{}```", format!("{passage}\n").repeat(200)),
            format!("```\n{}", format!("{passage}\n").repeat(200)),
            format!("~~~\n{}~~~", format!("{passage}\n").repeat(200)),
            format!("    {passage}\n").repeat(200),
            format!("> {passage}\n").repeat(200),
            format!("```\n{}```", "再次检查文件，因为测试仍然失败。\n".repeat(60)),
            in_turn(&["file", "code"], 200),
            in_turn(&["file", "code", "page"], 210),
            in_turn(&["file", "code", "page", "text", "book", "note", "list"], 200),
        ] {
            assert!(repetition(&text).is_some(), "{}", &text[..40]);
        }
        let found = repetition(&passage.repeat(200));
        assert!(found.is_some_and(|found| found.count >= 190));
    }

    /// A sentence again and again, with another of the words each time.
    fn in_turn(words: &[&str], count: usize) -> String {
        let said = words.iter().cycle().take(count);
        said.map(|word| format!("We need to look at the {word} and decide whether the change is correct before the next step.\n\n")).collect()
    }

    #[test]
    fn what_repeats_for_good_reasons() {
        let prose =
            (0..200).map(|n| format!("{} is not {}. ", "x".repeat(n % 17), "y".repeat(n % 13)));
        for text in [
            "| a | b |\n".repeat(200),
            "- [ ] check\n".repeat(200),
            format!("```\n{}```\n", "assert(true)\n".repeat(200)),
            "    call();\n".repeat(200),
            "{\"id\": 1, \"name\": \"x\"},\n".repeat(200),
            "=".repeat(4000),
            "yes ".repeat(20),
            prose.collect(),
            (0..100).map(|n| format!("{n}. the same item\n")).collect(),
            (0..100)
                .map(|n| {
                    format!(
                        "2026-11-{}, {}, some measurement from the sensor number {n}\n",
                        n % 28,
                        n * 17
                    )
                })
                .collect(),
            (0..100)
                .map(|n| format!("sensor {n}, {}, some measurement from this sensor\n", n * 17))
                .collect(),
            (0..80)
                .map(|n| format!("  it('works {n}', () => {{ expect(f({n})).toBe({n}) }})\n"))
                .collect(),
            (0..80).map(|n| format!("const value{n} = compute({n})\n")).collect(),
            (0..80)
                .map(|n| format!("```\nthe number of lines in this file is {n}\n```\n"))
                .collect(),
            "assert(true)\n".repeat(200),
        ] {
            assert_eq!(repetition(&text), None, "{}", text.lines().next().unwrap_or_default());
        }
    }
}
