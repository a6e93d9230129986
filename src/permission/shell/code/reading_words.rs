//! Words by which code, and the names, commands and options of programs say that they only read a file.

use crate::permission::shell::name_letters::is_in_call;
use crate::permission::shell::option_names::words_of;
use crate::permission::shell::word::Word;
use crate::util::words::has_word;

/// Words that say so anywhere.
const MODES: &str = "\
    list ls stat stats lstat status show info print check verify validate lint inspect explain audit analyze identify diff dry \
    noout readonly stdout help version numstat summary view";

/// Words that say so in the names of programs, commands and calls. Those of options can be about something else.
const READING: &str = "\
    read reads reader require import load exist exists test scan probe search match count size sum viewer checker verifier \
    validator linter inspector explorer scanner analyzer";

/// Further words in the names of calls, and of properties of what they return.
const READING_CALLS: &str = "\
    puts p pp say echo log warn error debug isfile isdir is from parse json text lines foreach basename dirname extname getsize \
    getmtime filesize contents include printf println";

/// Further commands of programs.
const READING_COMMANDS: &str = "\
    upload publish deploy install start stop restart reload run enable disable logs serve dump";

/// Words of options for the file to which all results are written.
const OUTPUTS: &str = "out output outfile outdir destination dest";

/// Words of calls that return names of files, or compare them.
const NAMING_CALLS: &str = "\
    list ls readdir listdir scandir glob walk search match test starts ends startswith endswith includes contains find";

/// Words that say that something is changed.
const CHANGING: &str = "\
    write remove rm unlink delete del rename move mv copy cp append save truncate replace update fix mkdir rmdir rmtree rimraf \
    touch edit create put patch inplace overwrite symlink link chmod chown trash destroy strip extract add insert system exec \
    spawn popen subprocess shutil sponge download clone checkout pull empty ensure";

/// Further words in the names of calls that write a file.
const WRITING_CALLS: &str = "to dump export output";

/// Calls whose value has methods that read the file.
const FILES: [&str; 5] = ["Path", "Pathname", "PurePath", "file", "File"];

fn has_any(list: &str, name: &str) -> bool {
    words_of(name).iter().any(|word| has_word(list, word))
}

/// Maximum length of code that is read for its calls.
const MAX_CODE: usize = 16 * 1024;

/// Maximum number of strings before another one in the same call.
const MAX_BEFORE: usize = 8;

/// Returns true if code gives a name only to calls that read the file or print the name: `require("x")`, `puts File.read "x"`.
/// `changes` says whether the code changes anything.
pub(super) fn is_only_read(code: &str, name: &str, changes: bool) -> bool {
    if code.len() > MAX_CODE {
        return false;
    }
    let is_whole = |at: &usize| {
        !code[..*at].ends_with(is_in_call) && !code[at + name.len()..].starts_with(is_in_call)
    };
    let mut places = code.match_indices(name).map(|(at, _)| at).filter(is_whole).peekable();
    places.peek().is_some() && places.all(|at| is_read_at(code, at, at + name.len(), changes))
}

/// Returns true if the string around this place is an argument of such a call.
fn is_read_at(code: &str, from: usize, to: usize, changes: bool) -> bool {
    let Some(opens) = code[..from].rfind(['"', '\'', '`']) else { return false };
    let quote = char::from(code.as_bytes()[opens]);
    let Some(length) = code[to..].find(quote).filter(|_| quote != '`') else { return false };
    let after = &code[to + length + 1..];
    // The letter of `f"…"`.
    let start = code[..opens].trim_end_matches(['r', 'b', 'f']);
    let mut before = if start.ends_with(is_in_call) { &code[..opens] } else { start }.trim_end();
    let is_first = !before.ends_with(',');
    // A file that Perl opens: `open(F, "<", "x")`, `open(F, "<x")`.
    if !is_first && (code[opens + 1..].starts_with('<') || before.ends_with(['<', ','])) {
        let mode = before.trim_end_matches(',').trim_end();
        if code[opens + 1..].starts_with('<') || mode.ends_with("\"<\"") || mode.ends_with("'<'") {
            return true;
        }
    }
    // Strings before it in the same call.
    for _ in 0..MAX_BEFORE {
        let Some(more) = before.strip_suffix(',').map(str::trim_end) else { break };
        let Some(end) = more.chars().next_back().filter(|end| matches!(end, '"' | '\'')) else {
            return false;
        };
        let inner = &more[..more.len() - 1];
        before = inner.rfind(end).map_or("", |at| inner[..at].trim_end());
    }
    if before.ends_with("==") || after.trim_start().starts_with("==") {
        return !changes;
    }
    let call = before.trim_end_matches('(').trim_end().trim_end_matches(['?', '!']);
    if call.ends_with("stdout.write") {
        return true;
    }
    let name = &call[call.trim_end_matches(is_in_call).len()..];
    if FILES.contains(&name) && is_first {
        let method = after.trim_start_matches(')').trim_start_matches(['.', '-', '>']);
        let end = method.find(|letter| !is_in_call(letter)).unwrap_or(method.len());
        return says_it_reads(changes, &method[..end]);
    }
    let opens_file = matches!(name, "fopen" | "ZipFile") || has_any("open", name);
    if opens_file { is_first && opens_to_read(after) } else { says_it_reads(changes, name) }
}

fn says_it_reads(changes: bool, call: &str) -> bool {
    let reads = [MODES, READING, READING_CALLS].iter().any(|list| has_any(list, call));
    match has_any(NAMING_CALLS, call) {
        true => !changes,
        false => reads && !has_any(CHANGING, call) && !has_any(WRITING_CALLS, call),
    }
}

/// Returns true if code has a word that says that something is changed, or what may be the mode of a file that is written.
pub(super) fn changes(code: &str) -> bool {
    let is_mode = |text: &str| {
        text.len() < 4
            && text.contains(['w', 'a', 'x', '+', '>'])
            && text.chars().all(|letter| "rwaxbt+>".contains(letter))
    };
    code.split(|letter| !is_in_call(letter)).any(|word| has_any(CHANGING, word))
        || code.split(['"', '\'']).any(is_mode)
}

/// Returns true if a call that opens a file with these further arguments only reads it.
fn opens_to_read(after: &str) -> bool {
    let more = after.split(')').next().unwrap_or_default();
    let is_of_reading = |argument: &str| {
        let argument = argument.trim();
        match argument.strip_prefix(['"', '\'']) {
            Some(mode) => mode.trim_end_matches(['"', '\'']).chars().all(|it| "rbtU".contains(it)),
            None => ["encoding", "errors", "newline"].iter().any(|it| argument.starts_with(it)),
        }
    };
    let mut arguments = more.split(',');
    arguments.next().is_some_and(|rest| !rest.contains(['+', '"', '\'']))
        && arguments.all(is_of_reading)
}

/// Returns true if statements of a database only read: `select 1; .tables`.
pub(crate) fn is_query(text: &str) -> bool {
    const QUERIES: &str =
        "select explain describe .schema .tables .dump .headers .mode .indexes .width";
    let text = text.to_ascii_lowercase();
    let mut statements =
        text.split([';', '\n']).map(str::trim).filter(|it| !it.is_empty()).peekable();
    statements.peek().is_some()
        && statements.all(|it| has_word(QUERIES, it.split_whitespace().next().unwrap_or_default()))
        && !text.split(|letter| !is_in_call(letter)).any(|it| has_word("into writefile edit", it))
}

/// Returns true if a name, such as that of a program, says that something is changed.
pub(crate) fn says_it_changes(name: &str) -> bool {
    has_any(CHANGING, name)
}

/// Returns true if the name of a program, its command or an option says that it only reads files or writes its results elsewhere,
/// and none says that it changes them.
pub(crate) fn command_reads(base: &str, rest: &[Word]) -> bool {
    let is_option = |word: &&Word| word.text.starts_with('-');
    let is_name = |text: &&str| text.bytes().all(|it| it == b'-' || it.is_ascii_lowercase());
    let options = || rest.iter().filter(is_option).filter_map(|word| word.text.split('=').next());
    let operands = rest.iter().filter(|word| !is_option(word)).map(|word| &*word.text);
    let commands = || operands.clone().take(2).take_while(is_name);
    let ends = ["lint", "diff", "sum", "info", "probe", "view", "check", "size"];
    let reads = ends.iter().any(|end| base.ends_with(end))
        || options()
            .any(|name| has_any(MODES, name) || has_any(OUTPUTS, name) || name.starts_with("-o"))
        || commands().any(|name| has_any(READING_COMMANDS, name))
        || commands().chain([base]).any(|name| has_any(MODES, name) || has_any(READING, name));
    reads
        && !options()
            .chain(commands())
            .chain([base])
            .any(|name| says_it_changes(name) || name == "-w")
}
