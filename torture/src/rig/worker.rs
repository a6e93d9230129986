//! A process that saves until it is killed or has reached its number, and acknowledges each completed save.

use std::io::Write;
use std::path::Path;

use super::args::Args;
use super::content::{MAX_LENGTH, Random, Tag, stretch};
use super::savers::{Job, Saver};
use super::{Result, say};

/// Runs a worker: `--saver`, `--dir …`, `--block`, `--worker`, and optionally `--longest`, `--length`, `--count`,
/// `--durability`, `--sessions`, `--same-name`.
pub(crate) fn main(args: &Args) -> Result<()> {
    let saver = Saver::named(args.text("saver")?)?;
    let dirs = args.paths("dir");
    let block = Path::new(args.text("block")?);
    let worker = args.number("worker", 0);
    let longest = args.number("longest", MAX_LENGTH);
    let length: Option<u64> = args.has("length").then(|| args.number("length", 1));
    let durability = args.durability();
    let mut random = Random::new(worker);
    say("ready")?;
    for number in 0..args.number("count", u64::MAX) {
        let mut tag = Tag::random(worker, number, longest, &mut random);
        tag.length = length.unwrap_or(tag.length);
        let content = stretch(block, &tag)?;
        let name = tag.to_string();
        let session = (args.has("sessions") && number % 3 == 0).then_some("a session");
        let tool = if args.has("same-name") { "storm" } else { &name };
        let job = Job { dirs: &dirs, durability, tool, session, content: &content };
        let mut out = std::io::stdout();
        // In one write, so that a line is complete or missing.
        let mut ack = |path: &str| drop(out.write_all(format!("{path}\t{name}\n").as_bytes()));
        let (outcome, _) = saver.save(&job, &mut ack);
        if let Some(error) = outcome.save_error {
            say(&format!("error\t{}", error.message))?;
        }
    }
    Ok(())
}
