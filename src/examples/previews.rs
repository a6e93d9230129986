//! Describes the lines of outputs for training, and makes previews with a table that is being tested.
//!
//!     previews describe LIST OUT              features of all lines that can be shown
//!     previews preview LIST OUT TABLE         previews within three budgets, ranked by a table
//!
//! Each line of LIST is the path of an output. `scripts/build/ranking.mjs` calls it.
#![allow(clippy::print_stderr, missing_docs)]

use std::fs;
use std::io::{self, Write};
use std::sync::Arc;

use spillway_core::text::lines::LineRule;
use spillway_core::text::lossy::Source;
use spillway_core::tools::Printed;
use spillway_core::truncation::limits::{Direction, Limits};
use spillway_core::truncation::notice::ENGLISH;
use spillway_core::truncation::preview_buffer::Window;
use spillway_core::truncation::smart::ranking::Ranking;
use spillway_core::truncation::smart::rules::Rules;
use spillway_core::truncation::smart::{FEATURES, Keep, describe, preview};

const BUDGETS: [(u64, u64); 3] = [(2000, 51_200), (500, 16_384), (100, 4096)];

fn limits((max_lines, max_bytes): (u64, u64)) -> Limits {
    Limits {
        max_lines,
        max_bytes,
        max_tokens: u64::MAX,
        direction: Direction::Head,
        line_rule: LineRule::Terminated,
        keep: Keep::of("smart", Printed::Other),
        terminal: false,
    }
}

fn window(text: &[u8], limits: &Limits, rules: &Arc<Rules>) -> Window {
    let mut window = Window::judging(limits, Some(Arc::clone(rules)), None);
    window.push(text);
    window.finish();
    window
}

/// Writes a text after its length.
fn put(out: &mut impl Write, bytes: &[u8]) -> io::Result<()> {
    out.write_all(&(bytes.len() as u32).to_le_bytes())?;
    out.write_all(bytes)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [mode, list, out, rest @ ..] = args.as_slice() else {
        return Err("usage: previews describe|preview LIST OUT [TABLE]".into());
    };
    let list = fs::read_to_string(list)?;
    let mut out = io::BufWriter::new(fs::File::create(out)?);
    let rules = match rest.first() {
        Some(table) => Arc::new(Rules::ranked_by(Ranking::read(&fs::read(table)?))?),
        None => Rules::built_in(),
    };
    for path in list.lines() {
        let text = fs::read(path)?;
        if mode == "describe" {
            let limits = limits(BUDGETS[0]);
            let window = window(&text, &limits, &rules);
            let Some(scanner) = window.scanner() else { continue };
            let mut bytes = Vec::new();
            for (number, length, row) in describe(&window, scanner, &limits) {
                bytes.extend_from_slice(&(number as u32).to_le_bytes());
                bytes.extend_from_slice(&(length.min(u64::from(u16::MAX)) as u16).to_le_bytes());
                row.iter().for_each(|value| bytes.extend_from_slice(&value.to_le_bytes()));
            }
            debug_assert_eq!(bytes.len() % (6 + 2 * FEATURES), 0);
            put(&mut out, &bytes)?;
            continue;
        }
        for budget in BUDGETS {
            let limits = limits(budget);
            let fits =
                limits.allow(text.split(|byte| *byte == b'\n').count() as u64, text.len() as u64);
            let window = window(&text, &limits, &rules);
            let made = window
                .scanner()
                .filter(|_| !fits)
                .and_then(|scanner| preview(&window, scanner, Source::Text, &limits, &ENGLISH));
            put(&mut out, made.map_or(text.clone(), |made| made.text.into_bytes()).as_slice())?;
        }
    }
    Ok(out.flush()?)
}
