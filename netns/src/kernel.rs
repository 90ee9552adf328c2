//! The kernel, by its own tools: `ip` for namespaces, links, addresses and routes, `nft` for
//! rules. Everything that changes something goes through here, one thing after another.

use crate::seen::Seen;
use crate::{Error, names};
use rustix::fs::{FsWord, statfs};
use std::cell::RefCell;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::Output;
use std::sync::Arc;
use std::{fs, io};

/// Of the file system that namespaces are in: what has a name but is not in it was left by
/// a reboot, or by one who died while he made it.
const NAMESPACE_MAGIC: FsWord = 0x6e73_6673;
const SETTINGS: &str = "/proc/sys/net";

/// Where something is done.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Place {
    Host,
    /// A namespace that has this name.
    In(String),
}

impl Place {
    fn path(&self) -> Option<PathBuf> {
        match self {
            Self::Host => None,
            Self::In(name) => Some(names::path(name)),
        }
    }
}

/// Is asked before each change; with a no, nothing is changed any more.
pub(crate) type Gate = dyn Fn(&str) -> bool + Send + Sync;

/// The kernel for the time of one call.
#[derive(Default)]
pub(crate) struct Kernel {
    gate: Option<Arc<Gate>>,
    done: RefCell<Vec<String>>,
}

impl Kernel {
    pub(crate) fn new(gate: Option<Arc<Gate>>) -> Self {
        Self { gate, done: RefCell::default() }
    }

    /// What was changed.
    pub(crate) fn into_done(self) -> Vec<String> {
        self.done.into_inner()
    }

    fn may(&self, what: &str) -> bool {
        self.gate.as_ref().is_none_or(|gate| gate(what))
    }

    fn announce(&self, what: &str) -> Result<(), Error> {
        if !self.may(what) {
            return Err(Error::Interrupted(what.to_owned()));
        }
        self.done.borrow_mut().push(what.to_owned());
        Ok(())
    }

    /// Commands of `ip`, in their order, up to the first that is refused.
    pub(crate) fn ip(&self, place: &Place, commands: &[String]) -> Result<(), Error> {
        let allowed = commands.iter().take_while(|command| self.may(command)).count();
        let (allowed, others) = commands.split_at(allowed);
        if !allowed.is_empty() {
            let output = run("ip", "iproute2", place, &["-batch", "-"], &allowed.join("\n"))?;
            if !output.status.success() {
                let failed = failed_line(&output).and_then(|line| allowed.get(line - 1));
                return Err(refused(failed.unwrap_or(&allowed[0]), &output));
            }
            self.done.borrow_mut().extend_from_slice(allowed);
        }
        others.first().map_or(Ok(()), |next| Err(Error::Interrupted(next.clone())))
    }

    /// Makes rules so, all of the text or nothing of it.
    pub(crate) fn nft(&self, place: &Place, what: &str, text: &str) -> Result<(), Error> {
        self.announce(what)?;
        let output = run("nft", "nftables", place, &["-f", "-"], text)?;
        if output.status.success() { Ok(()) } else { Err(refused(what, &output)) }
    }

    /// Makes settings of the kernel so. One that this kernel does not know is as good as off.
    pub(crate) fn set(&self, place: &Place, settings: &[(String, &str)]) -> Result<(), Error> {
        let path = |name: &str| Path::new(SETTINGS).join(name);
        let others = within(place, || {
            let is_other = |(name, value): &&(String, &str)| match fs::read_to_string(path(name)) {
                Ok(present) => Ok(present.trim() != *value),
                Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
                Err(error) => Err(error),
            };
            let mut others = Vec::new();
            for setting in settings {
                if is_other(&setting)? {
                    others.push(setting);
                }
            }
            Ok(others)
        })?;
        for (name, value) in others {
            self.announce(&format!("{name} = {value}"))?;
            within(place, || fs::write(path(name), value))?;
        }
        Ok(())
    }

    /// Names a new namespace, unless one has that name.
    pub(crate) fn make_namespace(&self, name: &str) -> Result<(), Error> {
        if is_namespace(name) {
            return Ok(());
        }
        self.clear_name(name)?;
        self.ip(&Place::Host, &[format!("netns add {name}")])
    }

    /// Removes a namespace, whose links to others must be gone.
    pub(crate) fn remove_namespace(&self, name: &str) -> Result<(), Error> {
        if is_namespace(name) {
            self.ip(&Place::Host, &[format!("netns del {name}")])?;
        }
        self.clear_name(name)
    }

    /// Removes a name that stands for no namespace.
    pub(crate) fn clear_name(&self, name: &str) -> Result<(), Error> {
        let path = names::path(name);
        if !path.exists() {
            return Ok(());
        }
        self.announce(&format!("remove {}", path.display()))?;
        fs::remove_file(&path).map_err(Error::at(path))
    }
}

/// What is there of links, addresses and routes.
pub(crate) fn look(place: &Place) -> Result<Seen, Error> {
    let asked = "address show\nroute show table main\n";
    let output = run("ip", "iproute2", place, &["-j", "-batch", "-"], asked)?;
    if !output.status.success() {
        return Err(refused("a look at its links", &output));
    }
    Seen::read(&output.stdout)
}

/// What a listing of rules says; none if what is asked for is not there.
pub(crate) fn rules(place: &Place, asked: &[&str]) -> Result<Option<String>, Error> {
    let arguments = [&["-s", "list"], asked].concat();
    let output = run("nft", "nftables", place, &arguments, "")?;
    let said = String::from_utf8_lossy(&output.stderr);
    if said.contains("No such file or directory") {
        return Ok(None);
    }
    if !output.status.success() {
        return Err(refused("a look at its rules", &output));
    }
    Ok(Some(String::from_utf8_lossy(&output.stdout).into_owned()))
}

/// The processes in a namespace, by their pids.
pub(crate) fn processes(namespace: &str) -> Result<String, Error> {
    let output = run("ip", "iproute2", &Place::Host, &["netns", "pids", namespace], "")?;
    let said = String::from_utf8_lossy(&output.stdout);
    Ok(said.split_whitespace().collect::<Vec<_>>().join(", "))
}

/// Every name of a namespace, also of what is none any more.
pub(crate) fn namespaces() -> Result<Vec<String>, Error> {
    let entries = match fs::read_dir(names::NAMESPACES) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        other => other.map_err(Error::at(names::NAMESPACES))?,
    };
    let names = entries.flatten().map(|entry| entry.file_name());
    let mut names: Vec<String> = names.filter_map(|name| name.into_string().ok()).collect();
    names.sort();
    Ok(names)
}

pub(crate) fn is_namespace(name: &str) -> bool {
    statfs(names::path(name)).is_ok_and(|found| found.f_type == NAMESPACE_MAGIC)
}

fn within<T: Send>(place: &Place, work: impl FnOnce() -> io::Result<T> + Send) -> Result<T, Error> {
    let path = place.path();
    host::within(path.as_deref(), work).map_err(Error::at(path.unwrap_or_else(|| SETTINGS.into())))
}

fn run(
    program: &'static str,
    package: &'static str,
    place: &Place,
    arguments: &[&str],
    input: &str,
) -> Result<Output, Error> {
    let path = place.path();
    if let Place::In(name) = place
        && !is_namespace(name)
    {
        let said = "it is not there".to_owned();
        return Err(Error::Refused { what: format!("a look into {name}"), said });
    }
    host::run_within(path.as_deref(), program, arguments, input).map_err(|source| Error::Program {
        program,
        package,
        source,
    })
}

fn refused(what: &str, output: &Output) -> Error {
    let said = String::from_utf8_lossy(&output.stderr);
    let said: Vec<&str> =
        said.lines().filter(|line| !line.starts_with("Command failed")).take(3).collect();
    Error::Refused { what: format!("`{what}`"), said: said.join(" ") }
}

/// Which line of a batch `ip` says it failed at.
fn failed_line(output: &Output) -> Option<usize> {
    let said = String::from_utf8_lossy(&output.stderr);
    let line = said.lines().find_map(|line| line.strip_prefix("Command failed -:"))?;
    line.trim().parse().ok().filter(|line| *line > 0)
}
