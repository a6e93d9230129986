//! Which programs run their arguments, and where those begin.

use super::word::Word;

/// What a program runs.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Wrapped {
    /// The words from here on.
    Words(usize),
    /// The same, and more words that nobody knows.
    WordsAndMore(usize),
    /// The same, with more rights: the outer command is judged too.
    Powerful(usize),
    /// A text for a shell.
    Text(usize),
    /// Nothing that can be run: it only looks.
    Nothing,
    /// Something, and nobody knows what.
    Unknown,
}

impl Wrapped {
    /// The words of the program itself, in front of what it runs.
    pub fn own<'w>(&self, words: &'w [Word]) -> &'w [Word] {
        match self {
            Self::Words(at) | Self::WordsAndMore(at) | Self::Powerful(at) | Self::Text(at) => {
                &words[..*at]
            }
            Self::Nothing | Self::Unknown => words,
        }
    }
}

struct Wrapper {
    names: &'static [&'static str],
    /// Options without a value.
    plain: &'static [&'static str],
    /// Options with a value, in the same word or the next.
    valued: &'static [&'static str],
    /// Arguments before the command.
    before: usize,
}

static WRAPPERS: &[Wrapper] = &[
    Wrapper {
        names: &["timeout", "gtimeout"],
        plain: &["--preserve-status", "--foreground", "-v", "--verbose"],
        valued: &["-s", "--signal", "-k", "--kill-after"],
        before: 1,
    },
    Wrapper { names: &["nice"], plain: &[], valued: &["-n", "--adjustment"], before: 0 },
    Wrapper { names: &["ionice"], plain: &["-t"], valued: &["-c", "-n"], before: 0 },
    Wrapper {
        names: &["nohup", "caffeinate", "chronic", "builtin"],
        plain: &[],
        valued: &[],
        before: 0,
    },
    Wrapper {
        names: &["setsid"],
        plain: &["-w", "--wait", "-f", "--fork", "-c", "--ctty"],
        valued: &[],
        before: 0,
    },
    Wrapper { names: &["time"], plain: &["-p", "-v"], valued: &[], before: 0 },
    Wrapper {
        names: &["stdbuf"],
        plain: &[],
        valued: &["-i", "-o", "-e", "--input", "--output", "--error"],
        before: 0,
    },
    Wrapper { names: &["command"], plain: &["-p"], valued: &[], before: 0 },
    Wrapper { names: &["exec"], plain: &["-c", "-l"], valued: &[], before: 0 },
];

static POWERFUL: &[Wrapper] = &[
    Wrapper {
        names: &["sudo"],
        plain: &["-n", "-S", "-k", "-K", "-b", "-H", "-E", "--non-interactive"],
        valued: &["-u", "--user", "-g", "--group", "-p", "--prompt"],
        before: 0,
    },
    Wrapper { names: &["doas"], plain: &["-n"], valued: &["-u"], before: 0 },
];

static XARGS: Wrapper = Wrapper {
    names: &["xargs", "gxargs"],
    plain: &["-0", "--null", "-r", "--no-run-if-empty", "-t", "--verbose", "-x", "--exit"],
    valued: &[
        "-n",
        "--max-args",
        "-P",
        "--max-procs",
        "-L",
        "--max-lines",
        "-I",
        "-d",
        "--delimiter",
        "-s",
        "--max-chars",
        "-E",
    ],
    before: 0,
};

/// What a command runs, if its program runs something else. `name` is the program without its folder.
pub(super) fn unwrap(name: &str, words: &[Word]) -> Option<Wrapped> {
    match name {
        "sh" | "bash" | "dash" | "ash" | "rbash" => return Some(shell(words)),
        "env" => return Some(environment(words)),
        "command" if words.get(1).is_some_and(|word| word.text == "-v" || word.text == "-V") => {
            return Some(Wrapped::Nothing);
        }
        _ => {}
    }
    let has = |wrapper: &&Wrapper| wrapper.names.contains(&name);
    if let Some(wrapper) = WRAPPERS.iter().find(has) {
        return Some(first_word(wrapper, words).map_or(Wrapped::Unknown, Wrapped::Words));
    }
    if let Some(wrapper) = POWERFUL.iter().find(has) {
        return Some(first_word(wrapper, words).map_or(Wrapped::Unknown, Wrapped::Powerful));
    }
    if has(&&XARGS) {
        return Some(first_word(&XARGS, words).map_or(Wrapped::Unknown, Wrapped::WordsAndMore));
    }
    None
}

/// Where the command begins. `None` if an option is not known or there is no command.
fn first_word(wrapper: &Wrapper, words: &[Word]) -> Option<usize> {
    let mut at = 1;
    while let Some(word) = words.get(at) {
        if !word.known || word.glob {
            return None;
        }
        let text = word.text.as_str();
        if text == "--" {
            at += 1;
            break;
        }
        if !text.starts_with('-') || text == "-" {
            break;
        }
        let name = text.split('=').next().unwrap_or(text);
        let number = text[1..].bytes().all(|byte| byte.is_ascii_digit());
        at += if wrapper.plain.contains(&text) || (number && wrapper.names.contains(&"nice")) {
            1
        } else if wrapper.valued.contains(&text) {
            2
        } else if (name.len() < text.len() && wrapper.valued.contains(&name))
            || (!text.starts_with("--")
                && text.len() > 2
                && text.is_char_boundary(2)
                && wrapper.valued.contains(&&text[..2]))
        {
            1
        } else {
            return None;
        };
    }
    for _ in 0..wrapper.before {
        words.get(at).filter(|word| word.known && !word.glob)?;
        at += 1;
    }
    (at < words.len()).then_some(at)
}

fn environment(words: &[Word]) -> Wrapped {
    let mut at = 1;
    while let Some(word) = words.get(at) {
        if !word.known || word.glob {
            return Wrapped::Unknown;
        }
        let text = word.text.as_str();
        let harmless =
            text.split_once('=').is_some_and(|(name, _)| super::variables::is_harmless(name));
        match text {
            "-i" | "--ignore-environment" | "-0" | "--null" => at += 1,
            "-u" | "--unset" => at += 2,
            "--" => {
                at += 1;
                break;
            }
            _ if text.starts_with('-') => return Wrapped::Unknown,
            _ if harmless => at += 1,
            _ if text.contains('=') => return Wrapped::Unknown,
            _ => break,
        }
    }
    if at < words.len() { Wrapped::Words(at) } else { Wrapped::Nothing }
}

fn shell(words: &[Word]) -> Wrapped {
    let mut at = 1;
    while let Some(word) = words.get(at) {
        let text = word.text.as_str();
        if !word.known || word.glob {
            return Wrapped::Unknown;
        }
        let bundle = text.strip_prefix('-').filter(|letters| !letters.is_empty());
        match bundle {
            Some(letters) if letters.bytes().all(|byte| b"celuxn".contains(&byte)) => {
                at += 1;
                if letters.contains('c') {
                    return match words.get(at) {
                        // Further words are parameters of the text, which are not known in there.
                        Some(text) if text.known && !text.glob => Wrapped::Text(at),
                        _ => Wrapped::Unknown,
                    };
                }
            }
            _ => return Wrapped::Unknown,
        }
    }
    Wrapped::Unknown
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(command: &str) -> Option<Wrapped> {
        let words: Vec<Word> = command.split(' ').map(Word::plain).collect();
        unwrap(&words[0].text, &words)
    }

    #[test]
    fn the_inner_command_is_found_behind_options() {
        assert_eq!(find("timeout -k 5 --signal=KILL 10 npm test"), Some(Wrapped::Words(5)));
        assert_eq!(find("nice -n10 ls"), Some(Wrapped::Words(2)));
        assert_eq!(find("nice -5 ls"), Some(Wrapped::Words(2)));
        assert_eq!(find("env -i NODE_ENV=test ls"), Some(Wrapped::Words(3)));
        assert_eq!(find("env"), Some(Wrapped::Nothing));
        assert_eq!(find("env PATH=x ls"), Some(Wrapped::Unknown));
        assert_eq!(find("env -S ls"), Some(Wrapped::Unknown));
        assert_eq!(find("xargs -0 -n 1 rm"), Some(Wrapped::WordsAndMore(4)));
        assert_eq!(find("sudo -u root rm"), Some(Wrapped::Powerful(3)));
        assert_eq!(find("timeout 5"), Some(Wrapped::Unknown));
        assert_eq!(find("bash -lc ls"), Some(Wrapped::Text(2)));
        assert_eq!(find("bash script.sh"), Some(Wrapped::Unknown));
        assert_eq!(find("exec -a x ls"), Some(Wrapped::Unknown));
        assert_eq!(find("ls"), None);
    }
}
