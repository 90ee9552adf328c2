//! One control plane: an engine, what it reaches, and the turn it may be in the
//! middle of.

use super::gate::Gate;
use engine::{Engine, Pass, PassError, Rest};
use futures::future::BoxFuture;
use model::InstanceId;
use std::sync::Arc;

type Turned = (Pass, Result<Option<Rest>, PassError>);

pub struct Plane {
    pub engine: Arc<Engine>,
    pub gate: Arc<Gate>,
    /// The pass between two of its turns.
    pass: Option<Pass>,
    /// A turn that is frozen in the middle.
    frozen: Option<BoxFuture<'static, Turned>>,
}

/// How a turn went.
#[derive(Debug)]
pub enum Went {
    /// There is more to do in this pass.
    On,
    Rested(Rest),
    /// It stands still at the gate.
    Frozen,
    Failed(PassError),
}

impl Plane {
    pub fn new(engine: Arc<Engine>, gate: Arc<Gate>) -> Self {
        Self { engine, gate, pass: None, frozen: None }
    }

    pub fn is_frozen(&self) -> bool {
        self.frozen.is_some()
    }

    /// Takes the instance, and does nothing with it yet.
    pub async fn begin(&mut self, id: InstanceId) {
        self.pass = self.engine.begin_pass(id).await.unwrap();
    }

    /// One turn, in a new pass if there is none under way.
    pub async fn turn(&mut self, id: InstanceId) -> Went {
        if self.is_frozen() {
            return Went::Frozen;
        }
        let mut pass = match self.pass.take() {
            Some(pass) => pass,
            None => match self.engine.begin_pass(id).await {
                Ok(Some(pass)) => pass,
                Ok(None) => return Went::Rested(Rest::NotOurs),
                Err(error) => return Went::Failed(error),
            },
        };
        let engine = self.engine.clone();
        self.frozen = Some(Box::pin(async move {
            let result = engine.turn(&mut pass).await;
            (pass, result)
        }));
        self.go_on().await
    }

    /// Turns until it rests, fails or freezes.
    pub async fn pass(&mut self, id: InstanceId) -> Went {
        loop {
            match self.turn(id).await {
                Went::On => {}
                went => return went,
            }
        }
    }

    /// Wakes it up where it stands still.
    pub async fn wake(&mut self) -> Went {
        if !self.is_frozen() {
            return Went::On;
        }
        self.gate.let_go();
        self.go_on().await
    }

    async fn go_on(&mut self) -> Went {
        let Some(turn) = &mut self.frozen else { return Went::On };
        let turned = tokio::select! {
            biased;
            turned = turn => turned,
            () = self.gate.frozen() => return Went::Frozen,
        };
        self.frozen = None;
        let (pass, result) = turned;
        match result {
            Ok(None) => {
                self.pass = Some(pass);
                Went::On
            }
            Ok(Some(rest)) => Went::Rested(rest),
            Err(error) => Went::Failed(error),
        }
    }
}
