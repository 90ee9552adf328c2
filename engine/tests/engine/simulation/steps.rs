//! Every step there is, with the effects it has outside the store. A step that
//! is not listed here does not compile, an effect that is not listed fails the
//! test that comes upon it, and what is listed but never comes fails too.

use super::gate::Effect;
use engine::Step;

pub struct Listed {
    pub name: &'static str,
    pub effects: &'static [Effect],
}

macro_rules! every_step {
    ($($step:ident $(($id:tt))? => [$($effect:ident),*]),* $(,)?) => {
        pub const STEPS: &[Listed] = &[
            $(Listed { name: stringify!($step), effects: &[$(Effect::$effect),*] }),*
        ];

        pub fn effects(step: Step) -> &'static [Effect] {
            let listed = STEPS.iter().find(|listed| listed.name == name(step));
            listed.expect("the list is made from the same names").effects
        }

        pub fn name(step: Step) -> &'static str {
            match step {
                $(Step::$step $(($id))? => stringify!($step)),*
            }
        }
    };
}

every_step! {
    TakeOver => [TakeOver],
    MakeNetwork => [EnsureNetwork],
    MakeDisk(_) => [EnsureDisk],
    EnsureServer(_) => [EnsureServer],
    Render(_) => [],
    AllowFormat(_) => [],
    RenewCertificates(_) => [],
    IssueCertificates(_) => [],
    Publish(_) => [],
    SealFormat(_) => [],
    SetCredentials => [SetUser, AddRights, ChangeSettings, ChangeQuota],
    CheckLogin => [LogIn],
    Look => [Look],
    ReturnLeaders(_) => [ElectLeaders],
    Reach => [],
    NoteStopping => [],
    OpenTicket(_) => [],
    CloseTicket => [],
    Hibernate(_) => [RemoveServer],
    NoteStopped => [],
    RemoveServer(_) => [RemoveServer, RemoveDisk],
    Forget => [RemoveNetwork, Retire],
}
