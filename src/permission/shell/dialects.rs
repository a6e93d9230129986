//! Differences between bash and other shells. A host often passes a command to `sh`, which may not be bash: it is dash
//! on Debian, and BusyBox's on Alpine.

use brush_parser::ast::{
    BinaryPredicate, CommandPrefixOrSuffixItem as Item, ExtendedTestExpr, IoRedirect,
    UnaryPredicate,
};

/// The reason to ask about `&>`: a shell that does not support it ends the command there and takes the rest for the
/// next one.
pub(super) const ENDS_SOONER: &str = "to some shells it ends at &>";

/// The reason to ask about a test that is a list of commands to a shell without `[[`.
pub(super) const TEST_RUNS: &str = "some shells run what follows || in it";

/// The reason to ask about a comparison of texts.
pub(super) const TEST_REDIRECTS: &str = "some shells open a file for < and > in it";

/// Returns true if words follow `&>` in a command.
pub(super) fn ends_sooner(items: &[Item]) -> bool {
    let both = |item: &Item| matches!(item, Item::IoRedirect(IoRedirect::OutputAndError(..)));
    items.iter().skip_while(|item| !both(item)).any(|item| !matches!(item, Item::IoRedirect(_)))
}

/// Returns true if the text after `||` begins with a possible program. Programs are not named like options, but the
/// text after `-n` looks the same here with and without it.
pub(super) fn begins_with_program(test: &ExtendedTestExpr) -> bool {
    match test {
        ExtendedTestExpr::And(first, _) | ExtendedTestExpr::Or(first, _) => {
            begins_with_program(first)
        }
        ExtendedTestExpr::Not(_) | ExtendedTestExpr::Parenthesized(_) => true,
        ExtendedTestExpr::UnaryTest(is, _) => matches!(is, UnaryPredicate::StringHasNonZeroLength),
        ExtendedTestExpr::BinaryTest(..) => true,
    }
}

/// Returns true if a comparison is written like a redirection.
pub(super) fn looks_like_redirection(is: &BinaryPredicate) -> bool {
    matches!(is.to_string().as_str(), "<" | ">")
}

/// Returns true if zsh takes the name of a file for a part of the operator, as in `>! file`.
pub(super) fn is_part_of_operator(raw: &str) -> bool {
    matches!(raw, "!" | "|")
}

/// Returns true if a wildcard can match the parent directory: in some shells `.*` and `.?` do.
pub(super) fn can_be_parent(name: &str) -> bool {
    let Some(rest) = name.strip_prefix('.') else { return false };
    let plain = rest.trim_matches('*');
    let is_one = matches!(plain, "" | "." | "?")
        || (plain.starts_with('[') && plain.find(']').is_none_or(|end| end + 1 == plain.len()));
    rest.contains(['*', '?', '[']) && is_one
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wildcards_that_can_stand_for_the_folder_above() {
        for name in [".*", ".?", ".[.]", ".[!a]", ".*.", "..*", ".**", ".[x"] {
            assert!(can_be_parent(name), "{name}");
        }
        for name in ["..", ".", "*", "?.", ".e*", ".??", ".*rc", ".[a]b", "a.*", ""] {
            assert!(!can_be_parent(name), "{name}");
        }
    }
}
