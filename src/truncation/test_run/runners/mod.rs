//! The output of test runners as data: for each runner the forms of its lines, and the meaning of a line of each form.
//!
//! Patterns see a line without colours, without a time stamp before it, and without its break. Their named groups are
//! `id`, `message`, `file`, `line` and `indent`. If several rules of a runner match a line, the first whose
//! section is the current one applies.
//!
//! | module | the runners |
//! | --- | --- |
//! | [`python`] | pytest, unittest, robot |
//! | [`javascript`] | jest, vitest, mocha, node, ava, playwright, jasmine |
//! | [`rust_and_go`] | nextest, cargo, go |
//! | [`cpp`] | ctest, googletest, catch2 |
//! | [`jvm_and_dotnet`] | maven, gradle, dotnet |
//! | [`ruby_and_php`] | rspec, minitest, phpunit |
//! | [`protocols`] | tap, teamcity |

mod cpp;
mod javascript;
mod jvm_and_dotnet;
mod protocols;
mod python;
mod ruby_and_php;
mod rust_and_go;

use super::rules::Runner;

/// Every runner; their order is that of the rules.
pub(super) const RUNNERS: &[Runner] = &[
    python::PYTEST,
    python::UNITTEST,
    javascript::JEST,
    javascript::VITEST,
    javascript::MOCHA,
    javascript::NODE,
    javascript::AVA,
    rust_and_go::NEXTEST,
    rust_and_go::CARGO,
    rust_and_go::GO,
    ruby_and_php::RSPEC,
    ruby_and_php::MINITEST,
    ruby_and_php::PHPUNIT,
    jvm_and_dotnet::MAVEN,
    jvm_and_dotnet::GRADLE,
    cpp::CTEST,
    jvm_and_dotnet::DOTNET,
    protocols::TAP,
    cpp::GOOGLETEST,
    cpp::CATCH2,
    javascript::PLAYWRIGHT,
    javascript::JASMINE,
    python::ROBOT,
    protocols::TEAMCITY,
];
