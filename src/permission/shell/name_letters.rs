//! Which letters a name can have, by what it is the name of.

/// Returns true for a letter of a name in code, of any script.
pub(super) fn is_in_identifier(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

/// Returns true for a letter of a name in code, also of JavaScript and PHP.
pub(super) fn is_in_call(letter: char) -> bool {
    is_in_identifier(letter) || letter == '$'
}

/// Returns true for a letter of the name of a variable of a shell or of `awk`.
pub(super) fn is_in_variable(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || letter == '_'
}

/// Returns true for a letter of a name that leads to no other folder.
pub(super) fn is_in_plain_name(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || "-_".contains(letter)
}

/// Returns true for a letter of the name or the path of a program, or of a variable in it.
pub(super) fn is_in_program(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || "_-./$".contains(letter)
}
