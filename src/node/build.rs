//! Links the add-on as Node-API expects, and merges identical functions.

use std::env;
use std::path::Path;
use std::process::{Command, Stdio};

/// Supported by lld, which rustc includes, and gold. No function is compared by its address.
const ONE_OF_EACH: &str = "-Wl,--icf=all";

fn main() {
    napi_build::setup();
    println!("cargo:rerun-if-changed=build.rs");
    if env::var("CARGO_CFG_TARGET_OS").is_ok_and(|os| os == "linux") && links_with(ONE_OF_EACH) {
        println!("cargo:rustc-cdylib-link-arg={ONE_OF_EACH}");
    }
}

/// Returns true if the compiler and the linker of this build accept an argument.
fn links_with(argument: &str) -> bool {
    let (Ok(rustc), Ok(target), Ok(folder)) =
        (env::var("RUSTC"), env::var("TARGET"), env::var("OUT_DIR"))
    else {
        return false;
    };
    let mut command = Command::new(rustc);
    command.args(["--crate-type=cdylib", "--crate-name=probe", "--target", &target, "-"]);
    command.arg("-o").arg(Path::new(&folder).join("probe.so"));
    command.arg(format!("-Clink-arg={argument}"));
    if let Ok(linker) = env::var("RUSTC_LINKER") {
        command.arg(format!("-Clinker={linker}"));
    }
    let flags = env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    command.args(flags.split('\u{1f}').filter(|flag| !flag.is_empty()));
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}
