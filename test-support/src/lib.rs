pub mod receiver;
use std::path::{Path, PathBuf};
pub fn target() -> PathBuf {
    let own = std::env::current_exe().unwrap();
    own.ancestors().nth(3).unwrap().to_owned()
}
fn script(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts").join(name)
}
fn python(name: &str) -> PathBuf {
    let program = target().join(name).join("bin/python");
    assert!(program.exists(), "{} is not there; `make setup-test` installs it", program.display());
    program
}
