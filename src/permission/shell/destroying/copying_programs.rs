//! Tells whether `rsync` and `rclone` remove what is in a place.

use super::destroying_programs::has_any;
use crate::permission::shell::word::{Word, without_options};
use crate::util::words::has_word;

/// Options of `rsync` and `rclone` whose value is in the next word.
const VALUED_BY_COPIERS: &str = "\
    --exclude --include --filter -f -e --rsh --timeout --bwlimit --exclude-from --include-from --files-from --log-file --transfers \
    --checkers --link-dest --compare-dest --copy-dest --backup-dir --port --rsync-path --partial-dir --temp-dir -T --chmod --chown \
    --info --max-size --min-size --config --log-level";

/// Commands of `rclone`.
const VERBS_OF_RCLONE: &str = "\
    about archive authorize backend bisync cat check checksum cleanup config convmv copy copyto copyurl cryptcheck dedupe delete \
    deletefile hashsum link listremotes ls lsd lsf lsjson lsl md5sum mkdir mount move moveto ncdu purge rcat rc rcd rmdir rmdirs serve \
    settier sha1sum size sync test touch tree version";

/// Returns the words that are no values of options.
fn own(rest: &[Word]) -> impl Iterator<Item = &Word> {
    let is_value = |at: usize| at > 0 && has_word(VALUED_BY_COPIERS, &rest[at - 1].text);
    rest.iter().enumerate().filter(move |(at, _)| !is_value(*at)).map(|(_, word)| word)
}

/// Returns true if `rsync` or `rclone` only says what it would do.
fn is_dry_run(rest: &[Word]) -> bool {
    own(rest).any(|word| {
        let letters = word.text.strip_prefix('-').unwrap_or_default();
        let is_bundle = letters.bytes().all(|letter| letter.is_ascii_alphabetic())
            && !letters.contains(['e', 'f', 'T']);
        word.text == "--dry-run" || is_bundle && letters.contains('n')
    })
}

/// Returns true if `rsync` or `rclone` removes what is in a place that it copies to or from.
pub(super) fn copies_over(base: &str, rest: &[Word], is_place: impl Fn(&Word) -> bool) -> bool {
    let mut given: Vec<&Word> = without_options(rest, VALUED_BY_COPIERS).collect();
    // Values of other options may stand before it.
    let is_verb = |word: &&Word| has_word(VERBS_OF_RCLONE, &word.text);
    let verb_at = given.iter().position(is_verb).filter(|_| base == "rclone");
    let verb = verb_at.map_or("", |at| given[at].text.as_str());
    given.drain(..verb_at.map_or(0, |at| at + 1));
    let deletes = |word: &Word| word.text == "--del" || word.text.starts_with("--delete");
    let of_target = verb == "sync" || rest.iter().any(deletes);
    let of_source = verb == "move" || has_any(rest, "--remove-source-files");
    let of_both = matches!(verb, "purge" | "delete");
    // Values of options that are not known may stand after the target.
    let sources = if given.len() > 1 { &given[..given.len() - 1] } else { &given[..] };
    let targets = given.get(1..).unwrap_or_default();
    !is_dry_run(rest)
        && ((of_source || of_both) && sources.iter().any(|word| is_place(word))
            || (of_target || of_both) && targets.iter().any(|word| is_place(word)))
}
