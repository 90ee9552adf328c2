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
    ($($list:ident { $($step:ident $(($id:tt))? => [$($effect:ident),*]),* $(,)? })*) => {
        $(pub const $list: &[Listed] = &[
            $(Listed { name: stringify!($step), effects: &[$(Effect::$effect),*] }),*
        ];)*

        pub fn effects(step: Step) -> &'static [Effect] {
            let mut all = [$($list),*].into_iter().flatten();
            let listed = all.find(|listed| listed.name == name(step));
            listed.expect("the list is made from the same names").effects
        }

        pub fn name(step: Step) -> &'static str {
            match step {
                $($(Step::$step $(($id))? => stringify!($step),)*)*
            }
        }
    };
}

every_step! {
    STEPS {
    TakeOver => [TakeOver],
    MakeNetwork => [EnsureNetwork],
    MakeDisk(_) => [EnsureDisk],
    GrowDisk(_) => [EnsureDisk],
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
    RESIZE_STEPS {
        Place => [ReadPlacement],
        AddVoter(_) => [AddVoter],
        RemoveVoter(_) => [RemoveVoter],
        Cordon => [ChangeSettings],
        SetMinIsr(_) => [ChangeSettings],
        NoteReplicas => [],
        Move => [ChangeSettings, Reassign, CancelCopies, ElectLeaders],
        AdjustThrottle => [ChangeSettings],
        EndMending => [ChangeSettings],
        PutBackMinIsr => [ChangeSettings],
        EndThrottles => [ChangeSettings],
        RestartStaying => [],
        BeginRemoving => [],
        StopLeaving => [],
        RemoveLeaving(_) => [ReadPlacement, Unregister, RemoveServer, RemoveDisk],
        EndResize => [],
    }
    // Takes a topic that is made on a broker in the very moment it stops; one write, which the
    // planner's tables have.
    RARE_STEPS {
        StartLeaving(_) => [],
    }
}
