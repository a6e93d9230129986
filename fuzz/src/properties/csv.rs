//! A preview of a table is a table with the same columns, is within its limits, and every row in it is a row of the
//! text.

use spillway_core::text::lossy::{Shown, Source};
use spillway_core::truncation::notice::ENGLISH;
use spillway_core::truncation::smart::{Keep, Lean};

use super::input::{Input, as_text};
use super::rendered::Case;

/// Parts that a case is built from if it is not arbitrary text.
const PARTS: [&str; 12] =
    ["a", "1", ",", "\t", ";", "\n", "\r\n", "\"", "\"\"", "\"x,\ny\"", "error", "\u{4f60}"];

pub fn check(data: &[u8]) {
    let mut input = Input::new(data);
    let case = Case::new(&mut input, Keep::Csv(Lean::Late));
    let raw = if input.flag() {
        as_text(&input.content(6 * 1024))
    } else {
        // Mostly rows of as many columns as the first choice says.
        let choices = input.content(1024);
        let columns = choices.first().map_or(2, |choice| usize::from(choice % 4) + 2);
        let parts = choices.iter().map(|choice| PARTS[usize::from(*choice) % PARTS.len()]);
        let separated = parts
            .enumerate()
            .flat_map(|(at, part)| [part, if at % columns == columns - 1 { "\n" } else { "," }]);
        separated.collect::<String>().into_bytes()
    };

    let window = case.window(&raw);
    case.check(&window, &raw);

    let structured = window.structured().expect("the limits ask for it");
    let Some(made) = structured.preview(&window, Source::Text, &case.limits, &ENGLISH) else {
        return;
    };
    let text = Shown::decode(&raw, Source::Text).text;
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let is_table = [',', '\t', ';'].into_iter().any(|delimiter| {
        let (shown, whole) = (rows(&made.text, delimiter), rows(text, delimiter));
        let columns = whole[0].len();
        let mut rest = whole.iter();
        columns >= 2
            && shown[0] == whole[0]
            && shown.iter().all(|row| row.len() == columns && rest.any(|whole| whole == row))
    });
    assert!(is_table, "{:?} of {text:?}", made.text);
}

/// A simple parser of RFC 4180: a quote counts at the start of a field only, and blank lines are ignored.
fn rows(text: &str, delimiter: char) -> Vec<Vec<String>> {
    let mut rows = Vec::new();
    let (mut row, mut field) = (Vec::new(), String::new());
    let (mut quoted, mut begun) = (false, false);
    let mut chars = text.chars().peekable();
    while let Some(char) = chars.next() {
        match char {
            '"' if quoted && chars.peek() == Some(&'"') => {
                chars.next();
                field.push('"');
            }
            '"' if quoted => quoted = false,
            '"' if !begun => (quoted, begun) = (true, true),
            _ if quoted => field.push(char),
            '\n' | '\r' => {
                if begun || !row.is_empty() {
                    row.push(std::mem::take(&mut field));
                    rows.push(std::mem::take(&mut row));
                }
                begun = false;
            }
            _ if char == delimiter => {
                row.push(std::mem::take(&mut field));
                begun = false;
            }
            _ => {
                begun = true;
                field.push(char);
            }
        }
    }
    if quoted {
        // A text that ends within a quoted field: the break at its very end belongs to the text.
        field.truncate(field.trim_end_matches(['\r', '\n']).len());
    }
    if begun || !row.is_empty() {
        row.push(field);
        rows.push(row);
    }
    rows
}
