//! Code of other languages that starts processes without an end.

/// Beginnings of loops that end only from within.
const ENDLESS: [&str; 17] = [
    "while(1)",
    "while (1)",
    "while 1",
    "while True",
    "while(True)",
    "while true",
    "while(true)",
    "while (true)",
    "for(;;)",
    "for (;;)",
    "loop{",
    "loop {",
    "loop do",
    "until false",
    "while(!0)",
    "repeat{",
    "repeat {",
];

/// Calls that start a process and do not wait for it.
const STARTS: [&str; 8] = [
    "spawn(",
    "spawn ",
    "Popen(",
    ".exec(",
    "execFile(",
    "popen(",
    "Process(target",
    "Thread(target",
];

/// Calls that wait for a process only if it is not in the background.
const RUNS: [&str; 4] = ["system(", "os.execute(", "system ", "exec("];

/// Words with which a loop pauses or ends.
const ENDS: [&str; 14] = [
    "wait",
    "sleep",
    "break",
    "communicate",
    "join(",
    "poll(",
    "return",
    "exit",
    "last",
    "accept(",
    "recv",
    "expect",
    "next(",
    "yield",
];

/// Returns true if a text of another language forks in a loop or in a function that calls itself, or starts processes in a
/// loop that neither waits nor ends.
pub(super) fn starts_for_ever(text: &str) -> bool {
    if text.contains("fork") && !text.contains("git") {
        const LOOPS: [&str; 8] =
            ["while", "loop", "for ", "for(", "for;", "until", "setInterval", "setImmediate"];
        return LOOPS.iter().any(|word| text.contains(word)) || calls_itself_forking(text);
    }
    let Some(at) = ENDLESS.iter().filter_map(|begin| text.find(begin)).min() else { return false };
    // Perl and Ruby write the condition behind the call as well.
    let begin = text[..at].rfind([';', '\n', '{']).map_or(0, |end| end + 1);
    let body = &text[begin..];
    // Expressions have a call with this name as well.
    let is_start = |call: &str| call != ".exec(" || text.contains("child_process");
    let starts = STARTS.iter().any(|call| body.contains(call) && is_start(call));
    let in_background = || {
        RUNS.iter().any(|call| body.contains(call))
            && body.split(['"', '\'']).any(|part| part.trim_end().ends_with('&'))
    };
    let code = outside_strings(body);
    (starts || in_background()) && !ENDS.iter().any(|word| code.contains(word))
}

/// Returns true if the body of a function forks and calls the function.
fn calls_itself_forking(text: &str) -> bool {
    ["def ", "sub ", "function "].into_iter().any(|keyword| {
        text.match_indices(keyword).any(|(at, _)| {
            let rest = &text[at + keyword.len()..];
            let is_of_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
            let end = rest.find(|letter| !is_of_name(letter)).unwrap_or(rest.len());
            let (name, rest) = rest.split_at(end);
            // A body of several lines is indented, or ends with a word or a brace.
            let end = rest
                .match_indices('\n')
                .find(|(at, _)| rest[at + 1..].starts_with(|letter: char| !letter.is_whitespace()));
            let body = &rest[..end.map_or(rest.len(), |(at, _)| at)];
            let body = &body[body.find([':', '{', ';', '\n']).unwrap_or(body.len())..];
            let calls = body.match_indices(name).any(|(at, _)| {
                !body[..at].ends_with(is_of_name)
                    && !body[at + name.len()..].starts_with(is_of_name)
            });
            !name.is_empty() && body.contains("fork") && calls
        })
    })
}

/// Returns a text of code without its strings.
fn outside_strings(text: &str) -> String {
    let mut out = String::new();
    let mut open: Option<char> = None;
    for letter in text.chars() {
        match open {
            Some(quote) => open = Some(quote).filter(|quote| *quote != letter),
            None if matches!(letter, '"' | '\'' | '`') => open = Some(letter),
            None => out.push(letter),
        }
    }
    out
}
