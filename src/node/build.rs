//! Links the add-on the way Node-API expects.

fn main() {
    napi_build::setup();
}
