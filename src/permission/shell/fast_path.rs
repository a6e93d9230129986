//! Commands of nothing but plain words between `&&`, `||`, `|` and `;`, as most commands of agents are. They become the tree
//! that the parser makes of them, in a small part of the time that it takes; all others are left to it.

use brush_parser::ast::{
    AndOr, AndOrList, Command, CommandPrefixOrSuffixItem as Item, CommandSuffix, CompoundList,
    CompoundListItem, Pipeline, Program, SeparatorOperator, SimpleCommand, Word,
};

/// Words that are no programs where a command begins.
const RESERVED: [&str; 19] = [
    "case", "coproc", "do", "done", "elif", "else", "end", "esac", "fi", "for", "function", "if",
    "in", "repeat", "select", "then", "time", "until", "while",
];

/// The tree of a command, but for the places in the text; `None` for one that is not plain.
pub(super) fn program(text: &str) -> Option<Program> {
    if !text.bytes().all(|byte| is_of_word(byte) || matches!(byte, b' ' | b'&' | b'|' | b';')) {
        return None;
    }
    let item = |list| Some(CompoundListItem(and_or(list)?, SeparatorOperator::Sequence));
    let items = text.split(';').map(item).collect::<Option<_>>()?;
    Some(Program { complete_commands: vec![CompoundList(items)] })
}

/// Letters that stand for themselves wherever they are. `=` does not: a word with it can be an assignment.
fn is_of_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
        || matches!(byte, b'_' | b'-' | b'.' | b'/' | b':' | b',' | b'@' | b'%' | b'+')
}

fn and_or(text: &str) -> Option<AndOrList> {
    let (first, mut rest) = pipeline(text)?;
    let mut additional = Vec::new();
    while !rest.is_empty() {
        let (next, behind) = pipeline(rest.get(2..)?)?;
        additional.push(if rest.starts_with('&') { AndOr::And(next) } else { AndOr::Or(next) });
        rest = behind;
    }
    Some(AndOrList { first, additional })
}

/// A pipeline, and what follows from `&&` or `||` on.
fn pipeline(text: &str) -> Option<(Pipeline, &str)> {
    let mut seq = Vec::new();
    let mut rest = text;
    loop {
        let end = rest.find(['&', '|']).unwrap_or(rest.len());
        seq.push(Command::Simple(simple(&rest[..end])?));
        rest = &rest[end..];
        if rest.is_empty() || rest.starts_with("&&") || rest.starts_with("||") {
            return Some((Pipeline { timed: None, bang: false, seq }, rest));
        }
        rest = rest.strip_prefix('|')?;
    }
}

fn simple(text: &str) -> Option<SimpleCommand> {
    let word = |text: &str| Word { value: text.to_owned(), loc: None };
    let mut words = text.split(' ').filter(|word| !word.is_empty());
    let name = words.next().filter(|name| !RESERVED.contains(name))?;
    let suffix: Vec<Item> = words.map(|text| Item::Word(word(text))).collect();
    Some(SimpleCommand {
        prefix: None,
        word_or_name: Some(word(name)),
        suffix: (!suffix.is_empty()).then_some(CommandSuffix(suffix)),
    })
}

#[cfg(test)]
mod tests {
    use brush_parser::{Parser, ParserOptions};
    use proptest::prelude::*;
    use regex::Regex;

    use super::*;

    /// Both trees, without the places in the text; nothing for a command that is not plain.
    fn both(text: &str) -> Option<(String, String)> {
        let plain = program(text)?;
        let options = ParserOptions { enable_extended_globbing: false, ..ParserOptions::default() };
        let parsed = Parser::new(text.as_bytes(), &options).parse_program();
        let place = r"loc: Some\(SourceSpan \{ start: SourcePosition \{[^}]*\}, end: SourcePosition \{[^}]*\} \}\)";
        let place = Regex::new(place).unwrap();
        let parsed =
            parsed.map(|tree| place.replace_all(&format!("{tree:?}"), "loc: None").into_owned());
        Some((format!("{plain:?}"), parsed.unwrap_or_else(|error| format!("{error:?}"))))
    }

    #[test]
    fn a_plain_command_is_the_tree_that_the_parser_makes_of_it() {
        for text in [
            "ls",
            "  cd src && git status --short | head -5 && npm test ",
            "a|b||c;d&&e",
            "git for in do 2 1,2 %1 @a +x -- :",
            "./x.sh; /bin/ls -la a/b:c",
        ] {
            let (plain, parsed) = both(text).unwrap();
            assert_eq!(plain, parsed, "{text}");
        }
    }

    #[test]
    fn what_is_not_plain_is_left_to_the_parser() {
        for text in [
            "",
            " ",
            ";",
            "ls;",
            "ls &",
            "a & b",
            "a |& b",
            "a | | b",
            "a &&",
            "&& a",
            "a &&& b",
            "a ||| b",
            "a ;; b",
            "A=1 b",
            "a b=c",
            "a > b",
            "a 2>&1",
            "a\nb",
            "a\tb",
            "a 'b'",
            "a $b",
            "a `b`",
            "a #b",
            "a *",
            "a ?",
            "~/a",
            "a {b,c}",
            "(a)",
            "! a",
            "time a",
            "if a",
            "a; do b",
            "a && then b",
            "a | while b",
            "[ a ]",
            "[[ a ]]",
            "a \\b",
            "ä",
        ] {
            assert!(program(text).is_none(), "{text}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]
        #[test]
        fn no_plain_command_is_read_otherwise_than_the_parser_reads_it(
            text in "(( ?(a|2|x1|\\.|-p|:|%1|@b|\\+c|\\[|=|if|then|do|done|fi|for|in|case|esac|while|time|function|select|coproc|until|elif|else|end|repeat|declare|export|\\{|\\}|!|ls -la) ?)|&&|\\|\\||\\||;|&){1,9}",
        ) {
            if let Some((plain, parsed)) = both(&text) {
                prop_assert_eq!(plain, parsed);
            }
        }

        #[test]
        fn nor_is_any_other_text(text in "[a-z0-9 |&;_./:,@%+-]{1,24}") {
            if let Some((plain, parsed)) = both(&text) {
                prop_assert_eq!(plain, parsed);
            }
        }
    }
}
